-- q30: it is deleted, with indexes
delete from tenktup1 where unique1 = :tuples + 1;
\expect rows 1
