-- q23: the least of all, with an index
select min(unique2) as least from tenktup1;
\gset
\assert :least = 0
