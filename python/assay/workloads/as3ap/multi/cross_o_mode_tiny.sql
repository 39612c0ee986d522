-- o_mode_tiny: level 3
\begin serializable
select * from tiny;
\expect rows 1
\commit
