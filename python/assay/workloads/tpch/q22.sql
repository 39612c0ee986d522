-- Q22: customers with money who have ordered nothing
\if :substitution = 'drawn'
\set draw random(1, 1000000000)
\set code_1 concat('', permute(0, 25, :draw) + 10)
\set code_2 concat('', permute(1, 25, :draw) + 10)
\set code_3 concat('', permute(2, 25, :draw) + 10)
\set code_4 concat('', permute(3, 25, :draw) + 10)
\set code_5 concat('', permute(4, 25, :draw) + 10)
\set code_6 concat('', permute(5, 25, :draw) + 10)
\set code_7 concat('', permute(6, 25, :draw) + 10)
\else
\set code_1 '13'
\set code_2 '31'
\set code_3 '23'
\set code_4 '29'
\set code_5 '30'
\set code_6 '18'
\set code_7 '17'
\endif
select cntrycode, count(*) as numcust, round(sum(c_acctbal), 2) as totacctbal
from (
  select substr(c_phone, 1, 2) as cntrycode, c_acctbal
  from customer
  where substr(c_phone, 1, 2) in (:code_1, :code_2, :code_3, :code_4, :code_5, :code_6, :code_7)
    and c_acctbal > (
      select avg(c_acctbal) from customer
      where c_acctbal > 0.00 and substr(c_phone, 1, 2) in (:code_1, :code_2, :code_3, :code_4, :code_5, :code_6, :code_7))
    and not exists (select * from orders where o_custkey = c_custkey)) custsale
group by cntrycode
order by cntrycode;
