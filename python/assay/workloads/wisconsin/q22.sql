-- q22: the sum of each of a hundred groups, no index
select sum(unique3) from tenktup1 group by onepercent;
\expect rows 100
