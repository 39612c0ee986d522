-- payment: TPC-C 2.5; the history gets a row, and three balances change by the same amount
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d random(1, 10)
\set amount decimal(random(100, 500000) / 100.0, 2)
\set c_w :w
\set c_d :d
\if :warehouses > 1 and random(1, 100) <= 15
\set c_w (:w + random(0, :warehouses - 2)) % :warehouses + 1
\set c_d random(1, 10)
\endif
\keying 3 * :pace s
\begin read committed
update warehouse set w_ytd = w_ytd + :amount where w_id = :w;
\expect rows 1
select w_name, w_street_1, w_street_2, w_city, w_state, w_zip from warehouse where w_id = :w \gset
update district set d_ytd = d_ytd + :amount where d_w_id = :w and d_id = :d;
\expect rows 1
select d_name, d_street_1, d_street_2, d_city, d_state, d_zip from district where d_w_id = :w and d_id = :d \gset
\if random(1, 100) <= 60
\set last lastname(nurand(255, 0, 999, :c_last_run))
select count(*) as namesakes from customer where c_w_id = :c_w and c_d_id = :c_d and c_last = :last \gset
\set before (:namesakes - 1) / 2
select c_id as c from customer where c_w_id = :c_w and c_d_id = :c_d and c_last = :last order by c_first limit 1 offset :before \gset
\else
\set c nurand(1023, 1, 3000, :c_customer)
\endif
update customer
set c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1
where c_w_id = :c_w and c_d_id = :c_d and c_id = :c;
\expect rows 1
select c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance
from customer
where c_w_id = :c_w and c_d_id = :c_d and c_id = :c \gset
\if :c_credit = 'BC'
select c_data from customer where c_w_id = :c_w and c_d_id = :c_d and c_id = :c \gset
\set c_data substr(concat(:c, ' ', :c_d, ' ', :c_w, ' ', :d, ' ', :w, ' ', :amount, ' ', :c_data), 1, 500)
update customer set c_data = :c_data where c_w_id = :c_w and c_d_id = :c_d and c_id = :c;
\endif
\set h_data concat(:w_name, '    ', :d_name)
insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
values (:c, :c_d, :c_w, :d, :w, current_timestamp, :amount, :h_data);
\commit
\think :pace * exponential(12, 120) s
