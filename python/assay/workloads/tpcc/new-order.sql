-- new-order: TPC-C 2.4; rows are locked by the updates that come before their reads
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d random(1, 10)
\set c nurand(1023, 1, 3000, :c_customer)
\set lines random(5, 15)
-- One order in a hundred names an item that does not exist, and is rolled back.
\set is_wrong random(1, 100) = 1
-- Bit n of it is 1 where line n is supplied by another warehouse, as one line in a hundred is.
\set remote_lines 0
\if :warehouses > 1
\for line in 1..:lines
\set remote_lines :remote_lines | (case when random(1, 100) = 1 then 1 else 0 end << :line)
\endfor
\endif
\set all_local case when :remote_lines = 0 then 1 else 0 end
\keying 18 * :pace s
\begin read committed
update district set d_next_o_id = d_next_o_id + 1 where d_w_id = :w and d_id = :d;
\expect rows 1
select d_next_o_id - 1 as o, d_tax from district where d_w_id = :w and d_id = :d \gset
select w_tax from warehouse where w_id = :w \gset
select c_discount, c_last, c_credit from customer where c_w_id = :w and c_d_id = :d and c_id = :c \gset
insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
values (:o, :d, :w, :c, current_timestamp, null, :lines, :all_local);
insert into new_order (no_o_id, no_d_id, no_w_id) values (:o, :d, :w);
\for line in 1..:lines
\set item nurand(8191, 1, 100000, :c_item)
\if :is_wrong and :line = :lines
\set item 100001
\endif
\set is_remote (:remote_lines >> :line) & 1
\set supply case when :is_remote = 1 then (:w + random(0, :warehouses - 2)) % :warehouses + 1 else :w end
\set quantity random(1, 10)
update stock
set s_quantity = case when s_quantity >= :quantity + 10 then s_quantity - :quantity else s_quantity - :quantity + 91 end,
    s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + :is_remote
where s_w_id = :supply and s_i_id = :item;
\if :rows_changed = 0
\abort
\endif
\set s_dist :d - 1
select i_price, i_name, i_data, s_quantity, s_data, :{s_dist} as info
from item, stock
where i_id = :item and s_w_id = :supply and s_i_id = i_id \gset
\set amount decimal(:quantity * :i_price, 2)
insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
values (:o, :d, :w, :line, :item, :supply, null, :quantity, :amount, :info);
\endfor
\commit
\think :pace * exponential(12, 120) s
