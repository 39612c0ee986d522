-- CUBRID sums integers as integers of 32 bits, for their average too: larger ones here
-- total_report: the same aggregates of all
select avg(cast(col_signed as bigint)), min(col_signed), max(col_signed), max(col_date), min(col_date), count(distinct col_name), count(col_name),
count(col_code), count(col_int)
from reportview where col_decim > 980000000;
\expect rows 1
