-- o_mode_tiny_screen: 1 tuple to the client (in the chapter: to the screen)
select * from tiny;
\expect rows 1
