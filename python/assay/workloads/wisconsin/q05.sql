-- q05: one in a hundred of the tuples into a relation, non-clustered index
create table tmp_q05 as select * from tenktup1 where unique1 between 0 and :tuples / 100 - 1;
