-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S09: thirteen digits in ISBN
select filename, label from bibtab
where regexp_like(isbn, '(^|[^0-9])97[89][0-9]{10}')
order by filename, year, label;
\expect rows :S09
