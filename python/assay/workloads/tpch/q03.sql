-- Q3: the ten unshipped orders of the largest value
\if :substitution = 'drawn'
\set segment pick('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD')
\set day date(date('1995-03-01') + random(0, 30))
\else
\set segment 'BUILDING'
\set day date('1995-03-15')
\endif
select l_orderkey, round(sum(l_extendedprice * (1 - l_discount)), 4) as revenue, o_orderdate, o_shippriority
from customer, orders, lineitem
where c_mktsegment = :segment and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < :day and l_shipdate > :day
group by l_orderkey, o_orderdate, o_shippriority
order by revenue desc, o_orderdate
limit 10;
