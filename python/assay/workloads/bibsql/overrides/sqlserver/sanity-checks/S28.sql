-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S28: malformed URL
select filename, label from bibtab
where url is not null
and not url collate Latin1_General_BIN2 like 'http://%'
and not url collate Latin1_General_BIN2 like 'https://%'
and not url collate Latin1_General_BIN2 like 'ftp://%'
order by filename, year, label;
\expect rows :S28
