-- q08: one in a hundred of the tuples to the client, clustered index
select * from tenktup1 where unique2 between 0 and :tuples / 100 - 1;
\expect rows :tuples / 100
