-- sel_100_ncl: a hundred tuples by a secondary index
select col_key, col_int, col_signed, col_code, col_double, col_name from updates where col_int <= 100;
\expect rows 100
