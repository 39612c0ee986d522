-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S25: malformed DOI
select filename, label from bibtab
where doi is not null
and not regexp_like(doi, '(^|doi.org/)10[.][0-9]+/')
order by filename, year, label;
\expect rows :S25
