-- Q9: what a line of items brought, by country and year
select n_name, {year(o_entry_d)} as l_year, round(sum(ol_amount), 2) as sum_profit
from item, stock, supplier, order_line, orders, nation
where ol_i_id = s_i_id and ol_supply_w_id = s_w_id and su_suppkey = (s_w_id * s_i_id) % 10000 and ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
  and ol_i_id = i_id and su_nationkey = n_nationkey and substr(i_data, length(i_data) - 1, 2) = 'bb'
group by n_name, {year(o_entry_d)}
order by n_name, l_year desc;
