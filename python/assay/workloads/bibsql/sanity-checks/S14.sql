-- S14: article without journal
select filename, label from bibtab
where bibtype = 'article'
and journal is null
order by filename, "year", label;
\expect rows :S14
