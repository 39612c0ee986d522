-- Q6: what would be earned without small discounts
\if :substitution = 'drawn'
\set year random(1993, 1997)
\set percent random(2, 9)
\set quantity random(24, 25)
\else
\set year 1994
\set percent 6
\set quantity 24
\endif
\set from date(concat(:year, '-01-01'))
\set until date(concat(:year + 1, '-01-01'))
\set least decimal((:percent - 1) / 100.0, 2)
\set most decimal((:percent + 1) / 100.0, 2)
select round(sum(l_extendedprice * l_discount), 4) as revenue
from lineitem
where l_shipdate >= :from and l_shipdate < :until
  and l_discount between :least and :most and l_quantity < :quantity;
