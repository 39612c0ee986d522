-- 15-stock-remote: not TPC-C's: the stock of a warehouse counts the lines since the load that other warehouses ordered
select w_id, s.total as counted_by_stock, l.total as counted_lines
from warehouse
join (select s_w_id, sum(s_remote_cnt) as total from stock group by s_w_id) s on s_w_id = w_id
left join (select ol_supply_w_id, count(*) as total
           from order_line
           where ol_o_id > 3000 and ol_w_id <> ol_supply_w_id
           group by ol_supply_w_id) l
on l.ol_supply_w_id = w_id
where s.total <> coalesce(l.total, 0);
