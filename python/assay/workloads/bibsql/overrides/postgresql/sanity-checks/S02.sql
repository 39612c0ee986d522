-- PostgreSQL has no REGEXP operator: ~ matches
-- S02: confused ISBN-13: ten characters where thirteen belong
select distinct filename from bibtab
where isbn13 ~ '^[0-9Xx]{10}$'
or isbn13 ~ '^[0-9Xx]{10}[^0-9]'
or isbn13 ~ '[^0-9Xx][0-9Xx]{10}$'
or isbn13 ~ '[^0-9Xx][0-9Xx]{10}[^0-9Xx]'
order by filename;
\expect rows :S02
