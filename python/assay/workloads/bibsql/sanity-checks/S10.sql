-- S10: malformed ISSN
select filename, label from bibtab
where issn is not null
and not {matches(issn, '[0-9]{4}-[0-9]{3}[0-9Xx]', '%[0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9Xx]%')}
order by filename, "year", label;
\expect rows :S10
