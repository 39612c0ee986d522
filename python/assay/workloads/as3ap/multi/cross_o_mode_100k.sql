-- o_mode_100k: level 2
\begin repeatable read
select * from hundred where col_key <= 1000;
\expect rows 1000
\commit
