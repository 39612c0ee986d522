-- o_mode_10k_file: 100 tuples to the client (in the chapter: to a file)
select * from hundred where col_key <= 100;
\expect rows 100
