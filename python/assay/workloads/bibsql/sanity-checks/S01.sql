-- S01: ISBN without ISBN-13
select filename, label from bibtab
where isbn is not null
and isbn13 is null
order by filename, "year", label;
\expect rows :S01
