-- o_mode_100k_screen: 1000 tuples to the client (in the chapter: to the screen)
select * from hundred where col_key <= 1000;
\expect rows 1000
