-- S16: article without pages
select filename, label from bibtab
where bibtype = 'article'
and pages is null
order by filename, "year", label;
\expect rows :S16
