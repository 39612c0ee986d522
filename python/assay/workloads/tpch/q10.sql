-- Q10: the twenty customers who sent back the most
\if :substitution = 'drawn'
\set month random(1, 24)
\else
\set month 9
\endif
\set from date(concat(1993 + (:month) / 12, '-', numeral((:month) % 12 + 1, 2, '0123456789'), '-01'))
\set until date(concat(1993 + (:month + 3) / 12, '-', numeral((:month + 3) % 12 + 1, 2, '0123456789'), '-01'))
select c_custkey, c_name, round(sum(l_extendedprice * (1 - l_discount)), 4) as revenue, c_acctbal, n_name, c_address,
  c_phone, c_comment
from customer, orders, lineitem, nation
where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= :from and o_orderdate < :until
  and l_returnflag = 'R' and c_nationkey = n_nationkey
group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
order by revenue desc
limit 20;
