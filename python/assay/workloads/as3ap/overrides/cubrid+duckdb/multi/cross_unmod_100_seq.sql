-- CUBRID and DuckDB have no serializable transactions: their strictest level is a snapshot
-- unmod_100_seq: level 3, the change that was rolled back is undone all the same
\begin repeatable read
update updates set col_double = col_double - 100000000 where col_key between 1001 and 1100;
\expect rows 100
\commit
