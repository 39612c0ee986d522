-- del_t_mid: that tuple is removed (the chapter names the key -5000 alone, with which 5005 would stay)
delete from updates where col_key = 5005 or col_key = -5000;
\expect rows 1
