-- mod_t_mid: its key is changed
update updates set col_key = -5000 where col_key = 5005;
\expect rows 1
