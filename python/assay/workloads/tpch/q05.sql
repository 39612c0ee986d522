-- Q5: revenue of suppliers in the country of their customers
\if :substitution = 'drawn'
\set region pick('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')
\set year random(1993, 1997)
\else
\set region 'ASIA'
\set year 1994
\endif
\set from date(concat(:year, '-01-01'))
\set until date(concat(:year + 1, '-01-01'))
select n_name, round(sum(l_extendedprice * (1 - l_discount)), 4) as revenue
from customer, orders, lineitem, supplier, nation, region
where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey and c_nationkey = s_nationkey
  and s_nationkey = n_nationkey and n_regionkey = r_regionkey and r_name = :region
  and o_orderdate >= :from and o_orderdate < :until
group by n_name
order by revenue desc;
