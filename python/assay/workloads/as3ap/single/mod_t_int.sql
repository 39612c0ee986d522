-- mod_t_int: the indexed int of a tuple is changed
update updates set col_int = 50015 where col_key = 5005;
\expect rows 1
