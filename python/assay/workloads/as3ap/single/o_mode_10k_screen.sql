-- o_mode_10k_screen: 100 tuples to the client (in the chapter: to the screen)
select * from hundred where col_key <= 100;
\expect rows 100
