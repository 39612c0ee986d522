-- o_mode_100k_file: 1000 tuples to the client (in the chapter: to a file)
select * from hundred where col_key <= 1000;
\expect rows 1000
