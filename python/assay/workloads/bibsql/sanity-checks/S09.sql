-- S09: thirteen digits in ISBN
select filename, label from bibtab
where {matches(isbn, '(^|[^0-9])97[89][0-9]{10}')}
order by filename, "year", label;
\expect rows :S09
