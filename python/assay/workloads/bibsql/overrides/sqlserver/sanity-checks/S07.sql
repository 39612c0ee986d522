-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S07: ISBN that is no ISBN-10
select filename, label from bibtab
where isbn is not null
and not isbn collate Latin1_General_BIN2 like '%[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9Xx]%'
order by filename, year, label;
\expect rows :S07
