-- q25: the sum of each of a hundred groups, with an index
select sum(unique3) from tenktup1 group by onepercent;
\expect rows 100
