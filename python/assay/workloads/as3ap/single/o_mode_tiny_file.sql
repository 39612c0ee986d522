-- o_mode_tiny_file: 1 tuple to the client (in the chapter: to a file)
select * from tiny;
\expect rows 1
