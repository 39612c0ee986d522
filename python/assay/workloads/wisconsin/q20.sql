-- q20: the least of all, no index
select min(unique2) as least from tenktup1;
\gset
\assert :least = 0
