-- What the tests made is removed; not measured
drop view reportview;
drop table integrity_temp;
drop table saveupdates;
