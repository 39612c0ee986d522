-- o_mode_1k_screen: 10 tuples to the client (in the chapter: to the screen)
select * from updates where col_key <= 10;
\expect rows 10
