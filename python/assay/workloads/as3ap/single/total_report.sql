-- total_report: the same aggregates of all
select avg({summand(col_signed)}), min(col_signed), max(col_signed), max(col_date), min(col_date), count(distinct col_name), count(col_name),
count(col_code), count(col_int)
from reportview where col_decim > 980000000;
\expect rows 1
