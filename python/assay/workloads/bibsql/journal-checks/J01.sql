-- J01: volumes missing between others
with articles as (
  select filename, label, journal, volume, "number", pages,
    count(*) over (partition by filename, journal) as of_journal,
    count(*) over (partition by filename) as of_file
  from bibtab
  where bibtype = 'article'
), volumes as (
  select distinct filename, journal, cast(volume as decimal(9, 0)) as volume_number
  from articles
  where 2 * of_journal > of_file and {matches(volume, '^[0-9]{1,9}$')}
), pairs as (
  select filename, journal, volume_number,
    lead(volume_number) over (partition by filename, journal order by volume_number) as next_number
  from volumes
)
select filename, journal, volume_number, next_number from pairs
where next_number > volume_number + 1
order by filename, journal, volume_number;
