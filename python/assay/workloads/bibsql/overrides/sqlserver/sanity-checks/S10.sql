-- SQL Server has no REGEXP operator: LIKE knows sets of characters, here by code point
-- S10: malformed ISSN
select filename, label from bibtab
where issn is not null
and not issn collate Latin1_General_BIN2 like '%[0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9Xx]%'
order by filename, year, label;
\expect rows :S10
