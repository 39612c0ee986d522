-- DuckDB has no REGEXP operator: the function regexp_matches matches
-- S03: old-style CODEN of five characters
select filename, label from bibtab
where regexp_matches(coden, '^.....$')
order by filename, year, label;
\expect rows :S03
