-- J02: issues missing before or between others
with articles as (
  select filename, label, journal, volume, "number", pages,
    count(*) over (partition by filename, journal) as of_journal,
    count(*) over (partition by filename) as of_file
  from bibtab
  where bibtype = 'article'
), issues as (
  select distinct filename, journal, volume, cast("number" as decimal(9, 0)) as issue_number
  from articles
  where 2 * of_journal > of_file and {matches("number", '^[0-9]{1,9}$')}
), pairs as (
  select filename, journal, volume, issue_number,
    coalesce(lag(issue_number) over (partition by filename, journal, volume order by issue_number), 0)
      as previous_number
  from issues
)
select filename, journal, volume, previous_number, issue_number from pairs
where issue_number > previous_number + 1
order by filename, journal, volume, issue_number;
