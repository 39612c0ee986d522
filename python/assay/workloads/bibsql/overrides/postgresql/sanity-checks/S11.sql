-- PostgreSQL has no REGEXP operator: ~ matches, !~ does not
-- S11: CODEN of neither four nor six characters
select filename, label from bibtab
where coden is not null
and coden not like '%,%'
and coden !~ '^[A-Z0-9]{4}$'
and coden !~ '^[A-Z0-9]{6}$'
order by filename, year, label;
\expect rows :S11
