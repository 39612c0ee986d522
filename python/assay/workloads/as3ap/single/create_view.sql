-- create_view: the view of the next two reports
create view reportview(col_key, col_signed, col_date, col_decim, col_name, col_code, col_int) as
select updates.col_key, updates.col_signed, updates.col_date, updates.col_decim, hundred.col_name, hundred.col_code, hundred.col_int
from updates, hundred where updates.col_key = hundred.col_key;
