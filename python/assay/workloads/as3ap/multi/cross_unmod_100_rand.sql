-- unmod_100_rand: level 3, the other change is undone
\begin {strictest_level}
update updates set col_double = col_double - 100000000 where col_int between 1001 and 1100;
\expect rows 100
\commit
