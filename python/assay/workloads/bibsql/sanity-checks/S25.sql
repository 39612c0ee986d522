-- S25: malformed DOI
select filename, label from bibtab
where doi is not null
and not {matches(doi, '(^|doi.org/)10[.][0-9]+/')}
order by filename, "year", label;
\expect rows :S25
