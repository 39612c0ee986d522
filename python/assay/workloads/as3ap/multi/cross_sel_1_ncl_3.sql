-- sel_1_ncl_3: level 3
\begin {strictest_level}
select col_key, col_int, col_signed, col_code, col_double, col_name from updates where col_code = 'BENCHMARKS';
\expect rows 1
\commit
