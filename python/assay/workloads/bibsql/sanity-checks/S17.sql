-- S17: page range with a single hyphen
select filename, label from bibtab
where {matches(pages, '^[0-9]+-[0-9]+$')}
order by filename, "year", label;
\expect rows :S17
