-- Q16: how many suppliers can deliver parts of a kind
\if :substitution = 'drawn'
\set draw random(1, 1000000000)
\set brand concat('Brand#', random(1, 5), random(1, 5))
\set type concat(pick('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'), ' ', pick('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'), '%')
\set size_1 permute(0, 50, :draw) + 1
\set size_2 permute(1, 50, :draw) + 1
\set size_3 permute(2, 50, :draw) + 1
\set size_4 permute(3, 50, :draw) + 1
\set size_5 permute(4, 50, :draw) + 1
\set size_6 permute(5, 50, :draw) + 1
\set size_7 permute(6, 50, :draw) + 1
\set size_8 permute(7, 50, :draw) + 1
\else
\set brand 'Brand#45'
\set type 'MEDIUM POLISHED%'
\set size_1 49
\set size_2 14
\set size_3 23
\set size_4 45
\set size_5 19
\set size_6 3
\set size_7 36
\set size_8 9
\endif
select p_brand, p_type, p_size, count(distinct ps_suppkey) as supplier_cnt
from partsupp, part
where p_partkey = ps_partkey and p_brand <> :brand and p_type not like :type
  and p_size in (:size_1, :size_2, :size_3, :size_4, :size_5, :size_6, :size_7, :size_8)
  and ps_suppkey not in (select s_suppkey from supplier where s_comment like '%Customer%Complaints%')
group by p_brand, p_type, p_size
order by supplier_cnt desc, p_brand, p_type, p_size;
