-- S06: recent entry without bibdate
select filename, label from bibtab
where "year" >= '2010'
and bibdate is null
order by filename, label;
\expect rows :S06
