-- DuckDB has no REGEXP operator: the function regexp_matches matches
-- S26: year in the label differs from the year
select filename, label from bibtab
where regexp_matches(label, '^[^:]+:[0-9]{4}:')
and regexp_matches(year, '^[0-9]{4}$')
and substring(label, instr(label, ':') + 1, 4) <> year
order by filename, year, label;
\expect rows :S26
