-- 11-delivered-orders: TPC-C 3.3.2.11, also after a run: a district's orders are new, were delivered at the load (2,100) or since
select o.o_w_id, o.o_d_id, o.counted as orders, n.counted as new_orders, c.delivered
from (select o_w_id, o_d_id, count(*) as counted from orders group by o_w_id, o_d_id) o
join (select c_w_id, c_d_id, sum(c_delivery_cnt) as delivered from customer group by c_w_id, c_d_id) c
on c.c_w_id = o.o_w_id and c.c_d_id = o.o_d_id
left join (select no_w_id, no_d_id, count(*) as counted from new_order group by no_w_id, no_d_id) n
on n.no_w_id = o.o_w_id and n.no_d_id = o.o_d_id
where o.counted - coalesce(n.counted, 0) <> 2100 + c.delivered;
