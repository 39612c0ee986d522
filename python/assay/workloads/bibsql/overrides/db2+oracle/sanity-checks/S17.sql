-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S17: page range with a single hyphen
select filename, label from bibtab
where regexp_like(pages, '^[0-9]+-[0-9]+$')
order by filename, year, label;
\expect rows :S17
