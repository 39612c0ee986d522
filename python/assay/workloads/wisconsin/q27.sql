-- q27: it is deleted, without indexes
delete from tenktup1 where unique1 = :tuples + 1;
\expect rows 1
