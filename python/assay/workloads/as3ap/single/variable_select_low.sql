-- variable_select_low: a program variable; the index should be used: no tuple
\set prog_var -500000000
select col_key, col_int, col_signed, col_code, col_double, col_name from tenpct where col_signed < :prog_var;
\expect rows 0
