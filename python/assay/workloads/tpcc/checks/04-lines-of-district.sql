-- 04-lines-of-district: TPC-C 3.3.2.4: the orders of a district have as many lines as they say
select o.o_w_id, o.o_d_id, o.said, l.counted
from (select o_w_id, o_d_id, sum(o_ol_cnt) as said from orders group by o_w_id, o_d_id) o
left join (select ol_w_id, ol_d_id, count(*) as counted from order_line group by ol_w_id, ol_d_id) l
on l.ol_w_id = o.o_w_id and l.ol_d_id = o.o_d_id
where o.said <> coalesce(l.counted, 0);
