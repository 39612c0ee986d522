-- unmod_100_seq: level 3, the change that was rolled back is undone all the same
\begin {strictest_level}
update updates set col_double = col_double - 100000000 where col_key between 1001 and 1100;
\expect rows 100
\commit
