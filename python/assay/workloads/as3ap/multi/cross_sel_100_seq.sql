-- sel_100_seq: level 3, a hundred tuples are kept
\begin {strictest_level}
insert into sel100seq select * from updates where updates.col_key between 1001 and 1100;
\expect rows 100
\commit
