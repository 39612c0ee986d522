-- DuckDB has no REGEXP operator: the function regexp_matches matches
-- S28: malformed URL
select filename, label from bibtab
where url is not null
and not regexp_matches(url, '^(https?|ftp)://')
order by filename, year, label;
\expect rows :S28
