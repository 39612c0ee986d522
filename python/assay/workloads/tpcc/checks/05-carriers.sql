-- 05-carriers: TPC-C 3.3.2.5: an order has no carrier exactly where it is a new order
select o_w_id, o_d_id, o_id, o_carrier_id, no_o_id
from orders
left join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id
where (o_carrier_id is null and no_o_id is null) or (o_carrier_id is not null and no_o_id is not null);
