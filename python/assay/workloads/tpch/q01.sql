-- Q1: how much was billed, shipped and returned up to a day
\if :substitution = 'drawn'
\set delta random(60, 120)
\else
\set delta 90
\endif
\set until date(date('1998-12-01') - :delta)
select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, round(sum(l_extendedprice), 2) as sum_base_price,
  round(sum(l_extendedprice * (1 - l_discount)), 2) as sum_disc_price,
  round(sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), 2) as sum_charge,
  round(avg(l_quantity), 4) as avg_qty, round(avg(l_extendedprice), 4) as avg_price, round(avg(l_discount), 4) as avg_disc,
  count(*) as count_order
from lineitem
where l_shipdate <= :until
group by l_returnflag, l_linestatus
order by l_returnflag, l_linestatus;
