-- S08: ISBN-13 with prefix 978 but no ISBN
select filename, label from bibtab
where isbn is null
and isbn13 regexp '^978'
order by filename, "year", label;
\expect rows :S08
