-- 10-balance: TPC-C 3.3.2.10: a customer owes what was delivered, less what was paid
select c_w_id, c_d_id, c_id, c_balance, l.delivered, h.paid
from customer
left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered
           from orders, order_line
           where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
           group by o_w_id, o_d_id, o_c_id) l
on l.o_w_id = c_w_id and l.o_d_id = c_d_id and l.o_c_id = c_id
left join (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as paid from history group by h_c_w_id, h_c_d_id, h_c_id) h
on h.h_c_w_id = c_w_id and h.h_c_d_id = c_d_id and h.h_c_id = c_id
where round(c_balance - coalesce(l.delivered, 0) + coalesce(h.paid, 0), 2) <> 0;
