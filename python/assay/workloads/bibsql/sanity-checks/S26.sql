-- S26: year in the label differs from the year
select filename, label from bibtab
where {matches(label, '^[^:]+:[0-9]{4}:')}
and {matches("year", '^[0-9]{4}$')}
and {substring(label, {position(label, ':')} + 1, 4)} <> "year"
order by filename, "year", label;
\expect rows :S26
