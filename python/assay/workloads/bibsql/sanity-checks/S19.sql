-- S19: publisher without address
select filename, label from bibtab
where publisher is not null
and address is null
order by filename, "year", label;
\expect rows :S19
