-- 07-delivered-lines: TPC-C 3.3.2.7: a line has no date of delivery exactly where its order has no carrier
select ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id
from order_line
left join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
where o_id is null or (ol_delivery_d is null and o_carrier_id is not null) or (ol_delivery_d is not null and o_carrier_id is null);
