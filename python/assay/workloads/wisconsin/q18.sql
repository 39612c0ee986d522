-- q18: a projection to few tuples
create table tmp_q18 as select distinct two, four, ten, twenty, onepercent, string4 from tenktup1;
