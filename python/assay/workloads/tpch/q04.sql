-- Q4: orders of a quarter with a line that came late, by priority
\if :substitution = 'drawn'
\set month random(0, 57)
\else
\set month 6
\endif
\set from date(concat(1993 + (:month) / 12, '-', numeral((:month) % 12 + 1, 2, '0123456789'), '-01'))
\set until date(concat(1993 + (:month + 3) / 12, '-', numeral((:month + 3) % 12 + 1, 2, '0123456789'), '-01'))
select o_orderpriority, count(*) as order_count
from orders
where o_orderdate >= :from and o_orderdate < :until
  and exists (select * from lineitem where l_orderkey = o_orderkey and l_commitdate < l_receiptdate)
group by o_orderpriority
order by o_orderpriority;
