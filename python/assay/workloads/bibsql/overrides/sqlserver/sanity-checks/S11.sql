-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S11: CODEN of neither four nor six characters
select filename, label from bibtab
where coden is not null
and coden not like '%,%'
and not coden collate Latin1_General_BIN2 like '[A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9]'
and not coden collate Latin1_General_BIN2 like '[A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9]'
order by filename, year, label;
\expect rows :S11
