-- sel_100_rand: level 3, a hundred tuples are kept
\begin {strictest_level}
insert into sel100rand select * from updates where updates.col_int between 1001 and 1100;
\expect rows 100
\commit
