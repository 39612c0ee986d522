-- lines: no line without its order, and no order without a line
select l_orderkey as orderkey from lineitem where not exists (select * from orders where o_orderkey = l_orderkey)
union all
select o_orderkey from orders where not exists (select * from lineitem where l_orderkey = o_orderkey);
