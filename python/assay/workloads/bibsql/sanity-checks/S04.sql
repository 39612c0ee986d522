-- S04: missing year
select filename, label from bibtab
where "year" is null
order by filename, "year", label;
\expect rows :S04
