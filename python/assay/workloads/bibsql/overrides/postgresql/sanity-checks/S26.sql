-- PostgreSQL has no REGEXP operator and no instr(): ~ matches, position() finds
-- S26: year in the label differs from the year
select filename, label from bibtab
where label ~ '^[^:]+:[0-9]{4}:'
and year ~ '^[0-9]{4}$'
and substring(label, position(':' in label) + 1, 4) <> year
order by filename, year, label;
\expect rows :S26
