-- Q11: the items of a country's suppliers that are ordered most
select s_i_id, sum(s_order_cnt) as ordercount
from stock, supplier, nation
where su_suppkey = (s_w_id * s_i_id) % 10000 and su_nationkey = n_nationkey and n_name = 'GERMANY'
group by s_i_id
having sum(s_order_cnt) > (
  select sum(s_order_cnt) * 0.005
  from stock, supplier, nation
  where su_suppkey = (s_w_id * s_i_id) % 10000 and su_nationkey = n_nationkey and n_name = 'GERMANY')
order by ordercount desc, s_i_id;
