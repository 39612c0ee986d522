-- SQL Server has no REGEXP operator: LIKE
-- S03: old-style CODEN of five characters
select filename, label from bibtab
where coden like '_____'
order by filename, year, label;
\expect rows :S03
