-- Q13: customers by how many orders they have
\if :substitution = 'drawn'
\set words concat('%', pick('special', 'pending', 'unusual', 'express'), '%', pick('packages', 'requests', 'accounts', 'deposits'), '%')
\else
\set words '%special%requests%'
\endif
select c_count, count(*) as custdist
from (
  select c_custkey, count(o_orderkey) as c_count
  from customer left outer join orders on c_custkey = o_custkey and o_comment not like :words
  group by c_custkey) c_orders
group by c_count
order by custdist desc, c_count desc;
