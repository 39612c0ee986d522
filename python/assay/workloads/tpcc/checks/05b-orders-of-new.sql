-- 05b-orders-of-new: TPC-C 3.3.2.5, from the other side: a new order is an order
select no_w_id, no_d_id, no_o_id
from new_order
left join orders on o_w_id = no_w_id and o_d_id = no_d_id and o_id = no_o_id
where o_id is null;
