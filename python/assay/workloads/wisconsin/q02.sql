-- q02: one in ten of the tuples into a relation, no index
create table tmp_q02 as select * from tenktup1 where unique2 between :tuples * 792 / 10000 and :tuples * 792 / 10000 + :tuples / 10 - 1;
