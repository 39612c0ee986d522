-- Q8: a country's share of the market of a region, by year
select {year(o_entry_d)} as l_year,
  round({dividend(sum(case when n2.n_name = 'GERMANY' then ol_amount else 0 end))} / sum(ol_amount), 6) as mkt_share
from item, supplier, stock, order_line, orders, customer, nation n1, nation n2, region
where i_id = s_i_id and ol_i_id = s_i_id and ol_supply_w_id = s_w_id and su_suppkey = (s_w_id * s_i_id) % 10000
  and ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and c_id = o_c_id and c_w_id = o_w_id and c_d_id = o_d_id
  and n1.n_nationkey = {character_code(substr(c_state, 1, 1))} and n1.n_regionkey = r_regionkey and r_name = 'EUROPE'
  and ol_i_id < 50000 and su_nationkey = n2.n_nationkey
  and o_entry_d between '2007-01-02 00:00:00' and '2100-01-01 00:00:00' and substr(i_data, length(i_data), 1) = 'b'
group by {year(o_entry_d)}
order by l_year;
