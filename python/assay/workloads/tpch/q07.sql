-- Q7: what two countries ship to one another, by year
\if :substitution = 'drawn'
\set draw random(1, 1000000000)
\set nation list('ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES') ->> permute(0, 25, :draw)
\set other list('ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES') ->> permute(1, 25, :draw)
\else
\set nation 'FRANCE'
\set other 'GERMANY'
\endif
\set from date('1995-01-01')
\set until date('1996-12-31')
select supp_nation, cust_nation, l_year, round(sum(volume), 4) as revenue
from (
  select n1.n_name as supp_nation, n2.n_name as cust_nation, {year(l_shipdate)} as l_year,
    l_extendedprice * (1 - l_discount) as volume
  from supplier, lineitem, orders, customer, nation n1, nation n2
  where s_suppkey = l_suppkey and o_orderkey = l_orderkey and c_custkey = o_custkey
    and s_nationkey = n1.n_nationkey and c_nationkey = n2.n_nationkey
    and ((n1.n_name = :nation and n2.n_name = :other) or (n1.n_name = :other and n2.n_name = :nation))
    and l_shipdate between :from and :until) shipping
group by supp_nation, cust_nation, l_year
order by supp_nation, cust_nation, l_year;
