-- DuckDB has no REGEXP operator: the function regexp_matches matches
-- S17: page range with a single hyphen
select filename, label from bibtab
where regexp_matches(pages, '^[0-9]+-[0-9]+$')
order by filename, year, label;
\expect rows :S17
