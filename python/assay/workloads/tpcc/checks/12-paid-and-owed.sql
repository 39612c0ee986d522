-- 12-paid-and-owed: TPC-C 3.3.2.12: what a customer owes and has paid is what was delivered
select c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, l.delivered
from customer
left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered
           from orders, order_line
           where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
           group by o_w_id, o_d_id, o_c_id) l
on l.o_w_id = c_w_id and l.o_d_id = c_d_id and l.o_c_id = c_id
where round(c_balance + c_ytd_payment - coalesce(l.delivered, 0), 2) <> 0;
