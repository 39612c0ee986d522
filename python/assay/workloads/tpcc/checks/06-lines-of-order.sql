-- 06-lines-of-order: TPC-C 3.3.2.6: each order has as many lines as it says
select o.o_w_id, o.o_d_id, o.o_id, o.o_ol_cnt, l.counted
from orders o
left join (select ol_w_id, ol_d_id, ol_o_id, count(*) as counted from order_line group by ol_w_id, ol_d_id, ol_o_id) l
on l.ol_w_id = o.o_w_id and l.ol_d_id = o.o_d_id and l.ol_o_id = o.o_id
where o.o_ol_cnt <> coalesce(l.counted, 0);
