-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S09: thirteen digits in ISBN
select filename, label from bibtab
where isbn collate Latin1_General_BIN2 like '97[89][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]%'
or isbn collate Latin1_General_BIN2 like '%[^0-9]97[89][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]%'
order by filename, year, label;
\expect rows :S09
