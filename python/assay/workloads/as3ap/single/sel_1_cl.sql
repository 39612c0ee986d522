-- sel_1_cl: one tuple by the clustered index
select col_key, col_int, col_signed, col_code, col_double, col_name from updates where col_key = 1000;
\expect rows 1
