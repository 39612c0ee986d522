-- deliver: TPC-C 2.7.4: what a terminal has queued (defer-delivery); the oldest new order of each district, and none where a district has none
\begin repeatable read
{write_first(update warehouse set w_ytd = w_ytd where w_id = :w)}
\for d in 1..10
\set o NULL
select no_o_id as o from new_order where no_w_id = :w and no_d_id = :d order by no_o_id limit 1 {for_update} \aset
\if :o is not null
delete from new_order where no_w_id = :w and no_d_id = :d and no_o_id = :o;
\expect rows 1
select o_c_id as c from orders where o_w_id = :w and o_d_id = :d and o_id = :o \gset
update orders set o_carrier_id = :carrier where o_w_id = :w and o_d_id = :d and o_id = :o;
update order_line set ol_delivery_d = current_timestamp where ol_w_id = :w and ol_d_id = :d and ol_o_id = :o;
select sum(ol_amount) as total from order_line where ol_w_id = :w and ol_d_id = :d and ol_o_id = :o \gset
update customer
set c_balance = c_balance + :total, c_delivery_cnt = c_delivery_cnt + 1
where c_w_id = :w and c_d_id = :d and c_id = :c;
\expect rows 1
\endif
\endfor
\commit
