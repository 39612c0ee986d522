-- S03: old-style CODEN of five characters
select filename, label from bibtab
where {matches(coden, '^.....$', '_____')}
order by filename, "year", label;
\expect rows :S03
