-- variable_select_high: the same statement; a scan should be used: a quarter of the tuples
\set prog_var -250000000
select col_key, col_int, col_signed, col_code, col_double, col_name from tenpct where col_signed < :prog_var;
\expect rows :high_variable
