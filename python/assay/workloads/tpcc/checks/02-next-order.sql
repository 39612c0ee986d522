-- 02-next-order: TPC-C 3.3.2.2: the district's next order follows its greatest one, and its greatest new order, if it has any
select d_w_id, d_id, d_next_o_id, o.greatest as order_number, n.greatest as new_order
from district
join (select o_w_id, o_d_id, max(o_id) as greatest from orders group by o_w_id, o_d_id) o on o_w_id = d_w_id and o_d_id = d_id
left join (select no_w_id, no_d_id, max(no_o_id) as greatest from new_order group by no_w_id, no_d_id) n on no_w_id = d_w_id and no_d_id = d_id
where d_next_o_id - 1 <> o.greatest or (n.greatest is not null and n.greatest <> o.greatest);
