-- S05: suspect year
select filename, label from bibtab
where {substring("year", 1, 4)} != '19xx'
and {substring("year", 1, 4)} != '20xx'
and ({substring("year", 1, 4)} < '1492' or :latest_year < {substring("year", 1, 4)})
order by filename, "year", label;
\expect rows :S05
