-- S15: article without volume and number
select filename, label from bibtab
where bibtype = 'article'
and volume is null
and "number" is null
order by filename, "year", label;
\expect rows :S15
