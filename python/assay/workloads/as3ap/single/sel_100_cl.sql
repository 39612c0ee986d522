-- sel_100_cl: a hundred tuples by the clustered index
select col_key, col_int, col_signed, col_code, col_double, col_name from updates where col_key <= 100;
\expect rows 100
