-- Db2 and Oracle have no REGEXP operator: the condition REGEXP_LIKE matches
-- S02: confused ISBN-13: ten characters where thirteen belong
select distinct filename from bibtab
where regexp_like(isbn13, '^[0-9Xx]{10}$')
or regexp_like(isbn13, '^[0-9Xx]{10}[^0-9]')
or regexp_like(isbn13, '[^0-9Xx][0-9Xx]{10}$')
or regexp_like(isbn13, '[^0-9Xx][0-9Xx]{10}[^0-9Xx]')
order by filename;
\expect rows :S02
