-- PostgreSQL has no REGEXP operator: ~ matches, !~ does not
-- S28: malformed URL
select filename, label from bibtab
where url is not null
and url !~ '^(https?|ftp)://'
order by filename, year, label;
\expect rows :S28
