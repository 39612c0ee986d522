-- mod_100_seq_abort: level 3, a change of a hundred tuples is rolled back
\begin {strictest_level}
update updates set col_double = col_double + 100000000 where col_key between 1001 and 1100;
\expect rows 100
rollback;
