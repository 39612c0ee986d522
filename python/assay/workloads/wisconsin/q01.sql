-- q01: one in a hundred of the tuples into a relation, no index
create table tmp_q01 as select * from tenktup1 where unique2 between 0 and :tuples / 100 - 1;
