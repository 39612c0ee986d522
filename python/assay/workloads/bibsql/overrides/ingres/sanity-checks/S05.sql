-- Ingres has the SUBSTRING of standard SQL
-- S05: suspect year
select filename, label from bibtab
where substring(year from 1 for 4) != '19xx'
and substring(year from 1 for 4) != '20xx'
and (substring(year from 1 for 4) < '1492' or :latest_year < substring(year from 1 for 4))
order by filename, year, label;
\expect rows :S05
