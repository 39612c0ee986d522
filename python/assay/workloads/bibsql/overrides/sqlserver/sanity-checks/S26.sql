-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S26: year in the label differs from the year
select filename, label from bibtab
where label like '[^:]%:%'
and substring(label, charindex(':', label) + 1, 5) collate Latin1_General_BIN2 like '[0-9][0-9][0-9][0-9]:'
and year collate Latin1_General_BIN2 like '[0-9][0-9][0-9][0-9]'
and substring(label, charindex(':', label) + 1, 4) <> year
order by filename, year, label;
\expect rows :S26
