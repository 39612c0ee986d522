-- 13-stock-ytd: not TPC-C's: the stock of a warehouse has given what the lines since the load took from it
select w_id, s.total as given, l.total as taken
from warehouse
join (select s_w_id, sum(s_ytd) as total from stock group by s_w_id) s on s_w_id = w_id
left join (select ol_supply_w_id, sum(ol_quantity) as total from order_line where ol_o_id > 3000 group by ol_supply_w_id) l
on l.ol_supply_w_id = w_id
where s.total <> coalesce(l.total, 0);
