-- Q20: suppliers with more of an item in stock than half of what was delivered
select su_name, su_address
from supplier, nation
where su_suppkey in (
    select (s_w_id * s_i_id) % 10000
    from stock, item, (
      select ol_i_id, sum(ol_quantity) as delivered
      from order_line
      where ol_delivery_d > '2007-01-02 00:00:00'
      group by ol_i_id) d
    where i_id = s_i_id and ol_i_id = s_i_id and substr(i_data, 1, 1) = 'c' and 2 * s_quantity > delivered)
  and su_nationkey = n_nationkey and n_name = 'GERMANY'
order by su_name;
