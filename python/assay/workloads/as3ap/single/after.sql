-- What the tests made is removed; not measured
drop view reportview;
drop table integrity_temp;
drop table saveupdates;
drop table result_tiny;
drop table result_1k;
drop table result_10k;
drop table result_100k;
