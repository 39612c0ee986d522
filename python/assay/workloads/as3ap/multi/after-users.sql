-- What the cross section has left is put right; not measured
update updates set col_double = col_double + 100000000 where col_key between 1001 and 1100;
drop table sel100seq;
drop table sel100rand;
