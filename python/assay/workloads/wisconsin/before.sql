-- A tenth of tenktup2, which the joins read; not measured
create table bprime as select * from tenktup2 where unique2 < :tuples / 10;
