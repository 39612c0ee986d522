-- updates: all tuples by their key
select col_key, col_int, col_signed, col_float, col_double, col_decim, col_date, col_code, col_name, col_address
from updates order by col_key;
