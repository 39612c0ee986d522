-- S26: year in the label differs from the year
select filename, label from bibtab
where label regexp '^[^:]+:[0-9]{4}:'
and "year" regexp '^[0-9]{4}$'
and substring(label, instr(label, ':') + 1, 4) <> "year"
order by filename, "year", label;
\expect rows :S26
