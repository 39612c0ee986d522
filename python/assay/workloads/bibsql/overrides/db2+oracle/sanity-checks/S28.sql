-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S28: malformed URL
select filename, label from bibtab
where url is not null
and not regexp_like(url, '^(https?|ftp)://')
order by filename, year, label;
\expect rows :S28
