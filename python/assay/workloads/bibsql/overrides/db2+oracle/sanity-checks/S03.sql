-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S03: old-style CODEN of five characters
select filename, label from bibtab
where regexp_like(coden, '^.....$')
order by filename, year, label;
\expect rows :S03
