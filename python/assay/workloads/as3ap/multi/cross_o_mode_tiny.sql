-- o_mode_tiny: level 3
\begin {strictest_level}
select * from tiny;
\expect rows 1
\commit
