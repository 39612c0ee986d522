-- Q8: a country's share of the market of its region, by year
\if :substitution = 'drawn'
\set number random(0, 24)
\set nation list('ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES') ->> :number
\set region list('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST') ->> (list(0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1) -> :number)
\set type concat(pick('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'), ' ', pick('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'), ' ', pick('TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'))
\else
\set nation 'BRAZIL'
\set region 'AMERICA'
\set type 'ECONOMY ANODIZED STEEL'
\endif
\set from date('1995-01-01')
\set until date('1996-12-31')
select o_year, round({dividend(sum(case when nation = :nation then volume else 0 end))} / sum(volume), 6) as mkt_share
from (
  select {year(o_orderdate)} as o_year, l_extendedprice * (1 - l_discount) as volume, n2.n_name as nation
  from part, supplier, lineitem, orders, customer, nation n1, nation n2, region
  where p_partkey = l_partkey and s_suppkey = l_suppkey and l_orderkey = o_orderkey and o_custkey = c_custkey
    and c_nationkey = n1.n_nationkey and n1.n_regionkey = r_regionkey and r_name = :region
    and s_nationkey = n2.n_nationkey and o_orderdate between :from and :until and p_type = :type) all_nations
group by o_year
order by o_year;
