-- Q17: revenue a year from orders of small quantities of a part
\if :substitution = 'drawn'
\set brand concat('Brand#', random(1, 5), random(1, 5))
\set container concat(pick('SM', 'LG', 'MED', 'JUMBO', 'WRAP'), ' ', pick('CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'))
\else
\set brand 'Brand#23'
\set container 'MED BOX'
\endif
select round({dividend(sum(l_extendedprice))} / 7.0, 4) as avg_yearly
from lineitem, part
where p_partkey = l_partkey and p_brand = :brand and p_container = :container
  and l_quantity < (select 0.2 * avg(l_quantity) from lineitem where l_partkey = p_partkey);
