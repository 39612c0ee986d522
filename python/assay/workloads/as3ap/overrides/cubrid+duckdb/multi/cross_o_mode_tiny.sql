-- CUBRID and DuckDB have no serializable transactions: their strictest level is a snapshot
-- o_mode_tiny: level 3
\begin repeatable read
select * from tiny;
\expect rows 1
\commit
