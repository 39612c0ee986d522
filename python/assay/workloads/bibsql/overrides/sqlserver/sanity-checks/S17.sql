-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S17: page range with a single hyphen
select filename, label from bibtab
where pages collate Latin1_General_BIN2 like '[0-9]%-%[0-9]'
and not pages collate Latin1_General_BIN2 like '%[^-0-9]%'
and not pages like '%-%-%'
order by filename, year, label;
\expect rows :S17
