-- subtotal_report: aggregates of each code and int
select avg(col_signed), min(col_signed), max(col_signed), max(col_date), min(col_date), count(distinct col_name), count(col_name),
col_code, col_int
from reportview where col_decim > 980000000 group by col_code, col_int;
\expect rows :tuples / 100
