-- S28: malformed URL
select filename, label from bibtab
where url is not null
and not {matches(url, '^(https?|ftp)://')}
order by filename, "year", label;
\expect rows :S28
