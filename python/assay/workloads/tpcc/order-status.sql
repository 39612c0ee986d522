-- order-status: TPC-C 2.6; a customer's balance and latest order are read in one snapshot
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d random(1, 10)
\keying 2 * :pace s
\begin repeatable read
\if random(1, 100) <= 60
\set last lastname(nurand(255, 0, 999, :c_last_run))
select count(*) as namesakes from customer where c_w_id = :w and c_d_id = :d and c_last = :last \gset
\set before (:namesakes - 1) / 2
select c_id as c from customer where c_w_id = :w and c_d_id = :d and c_last = :last order by c_first limit 1 offset :before \gset
\else
\set c nurand(1023, 1, 3000, :c_customer)
\endif
select c_first, c_middle, c_last, c_balance from customer where c_w_id = :w and c_d_id = :d and c_id = :c \gset
select o_id as o, o_entry_d, o_carrier_id
from orders
where o_w_id = :w and o_d_id = :d and o_c_id = :c
order by o_id desc
limit 1 \gset
select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line where ol_w_id = :w and ol_d_id = :d and ol_o_id = :o;
\commit
\think :pace * exponential(10, 100) s
