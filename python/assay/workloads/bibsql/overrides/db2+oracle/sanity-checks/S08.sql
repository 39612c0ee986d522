-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S08: ISBN-13 with prefix 978 but no ISBN
select filename, label from bibtab
where isbn is null
and regexp_like(isbn13, '^978')
order by filename, year, label;
\expect rows :S08
