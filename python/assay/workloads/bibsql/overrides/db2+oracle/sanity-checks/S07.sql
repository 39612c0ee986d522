-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S07: ISBN that is no ISBN-10
select filename, label from bibtab
where isbn is not null
and not regexp_like(isbn, '[0-9]{9}[0-9Xx]')
order by filename, year, label;
\expect rows :S07
