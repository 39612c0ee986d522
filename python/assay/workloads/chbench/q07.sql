-- Q7: what two countries sell to one another, by year
select su_nationkey as supp_nation, substr(c_state, 1, 1) as cust_nation, {year(o_entry_d)} as l_year,
  round(sum(ol_amount), 2) as revenue
from supplier, stock, order_line, orders, customer, nation n1, nation n2
where ol_supply_w_id = s_w_id and ol_i_id = s_i_id and su_suppkey = (s_w_id * s_i_id) % 10000
  and ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and c_id = o_c_id and c_w_id = o_w_id and c_d_id = o_d_id
  and su_nationkey = n1.n_nationkey and n2.n_nationkey = {character_code(substr(c_state, 1, 1))}
  and ((n1.n_name = 'GERMANY' and n2.n_name = 'CAMBODIA') or (n1.n_name = 'CAMBODIA' and n2.n_name = 'GERMANY'))
  and ol_delivery_d between '2007-01-02 00:00:00' and '2100-01-01 00:00:00'
group by su_nationkey, substr(c_state, 1, 1), {year(o_entry_d)}
order by su_nationkey, cust_nation, l_year;
