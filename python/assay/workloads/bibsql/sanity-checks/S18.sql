-- S18: book without publisher
select filename, label from bibtab
where bibtype = 'book'
and publisher is null
order by filename, "year", label;
\expect rows :S18
