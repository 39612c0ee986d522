-- sel_10pct_cl: a tenth of the tuples, by the clustered index
select col_key, col_int, col_signed, col_code, col_double, col_name from uniques where col_key <= 100000000;
\expect rows :tuples / 10
