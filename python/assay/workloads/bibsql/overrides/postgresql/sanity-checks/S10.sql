-- PostgreSQL has no REGEXP operator: ~ matches, !~ does not
-- S10: malformed ISSN
select filename, label from bibtab
where issn is not null
and issn !~ '[0-9]{4}-[0-9]{3}[0-9Xx]'
order by filename, year, label;
\expect rows :S10
