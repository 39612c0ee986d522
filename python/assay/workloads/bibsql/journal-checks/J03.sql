-- J03: overlapping pages in an issue
with articles as (
  select filename, label, journal, volume, "number", pages,
    count(*) over (partition by filename, journal) as of_journal,
    count(*) over (partition by filename) as of_file
  from bibtab
  where bibtype = 'article'
), numbered as (
  select filename, label, journal, volume, "number", pages,
    cast(substring(pages, 1, {position(pages, '--')} - 1) as decimal(9, 0)) as first_page,
    cast(substring(pages, {position(pages, '--')} + 2) as decimal(9, 0)) as last_page
  from articles
  where 2 * of_journal > of_file and {matches(pages, '^[0-9]{1,9}--[0-9]{1,9}$')}
), placed as (
  select filename, label, journal, volume, "number", pages, first_page,
    max(last_page) over (
      partition by filename, journal, volume, "number" order by first_page, last_page, label
      rows between unbounded preceding and 1 preceding) as pages_before
  from numbered
)
select filename, label, journal, volume, "number", pages, pages_before from placed
where first_page < pages_before
order by filename, journal, volume, "number", first_page, label;
