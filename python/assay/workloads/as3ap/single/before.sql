-- Empty relations into which tuples are saved; not measured
create table integrity_temp as select * from hundred where 1 = 0;
create table saveupdates as select * from updates where 1 = 0;
