-- mod_t_cod: the indexed code of a tuple is changed
update updates set col_code = 'SQL+GROUPS' where col_key = 5005;
\expect rows 1
