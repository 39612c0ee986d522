-- S24: unknown month
select filename, label from bibtab
where "month" is not null
and monthnumber is null
order by filename, "year", label;
\expect rows :S24
