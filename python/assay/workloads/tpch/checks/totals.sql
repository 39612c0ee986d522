-- totals: what a new order costs is the sum of its lines, to a cent for each
select o_orderkey, o_totalprice, sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) as lines_total
from orders, lineitem
where l_orderkey = o_orderkey and o_orderkey % 32 >= 8
group by o_orderkey, o_totalprice
having abs(o_totalprice - sum(l_extendedprice * (1 + l_tax) * (1 - l_discount))) > 0.07;
