-- Q19: revenue of parts that are delivered by air and in person
\if :substitution = 'drawn'
\set quantity_1 random(1, 10)
\set quantity_2 random(10, 20)
\set quantity_3 random(20, 30)
\set brand_1 concat('Brand#', random(1, 5), random(1, 5))
\set brand_2 concat('Brand#', random(1, 5), random(1, 5))
\set brand_3 concat('Brand#', random(1, 5), random(1, 5))
\else
\set quantity_1 1
\set quantity_2 10
\set quantity_3 20
\set brand_1 'Brand#12'
\set brand_2 'Brand#23'
\set brand_3 'Brand#34'
\endif
\set most_1 :quantity_1 + 10
\set most_2 :quantity_2 + 10
\set most_3 :quantity_3 + 10
select round(sum(l_extendedprice * (1 - l_discount)), 4) as revenue
from lineitem, part
where (p_partkey = l_partkey and p_brand = :brand_1
    and p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
    and l_quantity >= :quantity_1 and l_quantity <= :most_1 and p_size between 1 and 5
    and l_shipmode in ('AIR', 'AIR REG') and l_shipinstruct = 'DELIVER IN PERSON')
  or (p_partkey = l_partkey and p_brand = :brand_2
    and p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
    and l_quantity >= :quantity_2 and l_quantity <= :most_2 and p_size between 1 and 10
    and l_shipmode in ('AIR', 'AIR REG') and l_shipinstruct = 'DELIVER IN PERSON')
  or (p_partkey = l_partkey and p_brand = :brand_3
    and p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
    and l_quantity >= :quantity_3 and l_quantity <= :most_3 and p_size between 1 and 15
    and l_shipmode in ('AIR', 'AIR REG') and l_shipinstruct = 'DELIVER IN PERSON');
