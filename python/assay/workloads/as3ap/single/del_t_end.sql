-- del_t_end: it is removed
delete from updates where col_key = -1000;
\expect rows 1
