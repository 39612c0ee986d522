-- o_mode_1k_file: 10 tuples to the client (in the chapter: to a file)
select * from updates where col_key <= 10;
\expect rows 10
