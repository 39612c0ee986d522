-- sel_1_ncl_1: level 1
\begin read committed
select col_key, col_int, col_signed, col_code, col_double, col_name from updates where col_code = 'BENCHMARKS';
\expect rows 1
\commit
