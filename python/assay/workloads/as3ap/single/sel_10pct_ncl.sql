-- sel_10pct_ncl: a tenth of the tuples, by a secondary index
select col_key, col_int, col_signed, col_code, col_double, col_name from tenpct where col_name = 'THE+ASAP+BENCHMARKS+';
\expect rows :tuples / 10
