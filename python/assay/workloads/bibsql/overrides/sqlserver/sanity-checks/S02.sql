-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S02: confused ISBN-13: ten characters where thirteen belong
select distinct filename from bibtab
where isbn13 collate Latin1_General_BIN2 like '[0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx]'
or isbn13 collate Latin1_General_BIN2 like '[0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][^0-9]%'
or isbn13 collate Latin1_General_BIN2 like '%[^0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx]'
or isbn13 collate Latin1_General_BIN2 like '%[^0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][^0-9Xx]%'
order by filename;
\expect rows :S02
