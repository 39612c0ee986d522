-- q07: one tuple to the client, clustered index
select * from tenktup1 where unique2 = :tuples / 5 + 1;
\expect rows 1
