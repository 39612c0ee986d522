-- mod_t_end: its key is changed
update updates set col_key = -1000 where col_key = 1000000001;
\expect rows 1
