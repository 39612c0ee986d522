-- q06: one in ten of the tuples into a relation, non-clustered index
create table tmp_q06 as select * from tenktup1 where unique1 between :tuples * 792 / 10000 and :tuples * 792 / 10000 + :tuples / 10 - 1;
