-- S08: ISBN-13 with prefix 978 but no ISBN
select filename, label from bibtab
where isbn is null
and {matches(isbn13, '^978', '978%')}
order by filename, "year", label;
\expect rows :S08
