-- S07: ISBN that is no ISBN-10
select filename, label from bibtab
where isbn is not null
and not {matches(isbn, '[0-9]{9}[0-9Xx]', '%[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9Xx]%')}
order by filename, "year", label;
\expect rows :S07
