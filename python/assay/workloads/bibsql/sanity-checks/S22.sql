-- S22: thesis without school
select filename, label from bibtab
where bibtype in ('phdthesis', 'mastersthesis')
and school is null
order by filename, "year", label;
\expect rows :S22
