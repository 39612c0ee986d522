-- PostgreSQL has no REGEXP operator: ~ matches
-- S03: old-style CODEN of five characters
select filename, label from bibtab
where coden ~ '^.....$'
order by filename, year, label;
\expect rows :S03
