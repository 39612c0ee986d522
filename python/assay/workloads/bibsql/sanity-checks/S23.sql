-- S23: report without institution
select filename, label from bibtab
where bibtype = 'techreport'
and institution is null
order by filename, "year", label;
\expect rows :S23
