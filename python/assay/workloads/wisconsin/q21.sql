-- q21: the least of each of a hundred groups, no index
select min(unique3) from tenktup1 group by onepercent;
\expect rows 100
