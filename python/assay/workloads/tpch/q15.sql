-- Q15: the supplier with the largest revenue of a quarter
\if :substitution = 'drawn'
\set month random(0, 57)
\else
\set month 36
\endif
\set from date(concat(1993 + (:month) / 12, '-', numeral((:month) % 12 + 1, 2, '0123456789'), '-01'))
\set until date(concat(1993 + (:month + 3) / 12, '-', numeral((:month + 3) % 12 + 1, 2, '0123456789'), '-01'))
with revenue as (
  select l_suppkey as supplier_no, round(sum(l_extendedprice * (1 - l_discount)), 4) as total_revenue
  from lineitem
  where l_shipdate >= :from and l_shipdate < :until
  group by l_suppkey)
select s_suppkey, s_name, s_address, s_phone, total_revenue
from supplier, revenue
where s_suppkey = supplier_no and total_revenue = (select max(total_revenue) from revenue)
order by s_suppkey;
