-- Oracle has no SUBSTRING, and that of Db2 names the unit of its numbers: both have SUBSTR
-- S05: suspect year
select filename, label from bibtab
where substr(year, 1, 4) != '19xx'
and substr(year, 1, 4) != '20xx'
and (substr(year, 1, 4) < '1492' or :latest_year < substr(year, 1, 4))
order by filename, year, label;
\expect rows :S05
