-- stock-level: TPC-C 2.8; which items of the district's last 20 orders run short
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d :number / :warehouses % 10 + 1
\set threshold random(10, 20)
\keying 2 * :pace s
\begin read committed
select d_next_o_id as "next" from district where d_w_id = :w and d_id = :d \gset
select count(distinct s_i_id) as low
from order_line, stock
where ol_w_id = :w and ol_d_id = :d and ol_o_id < :next and ol_o_id >= :next - 20
and s_w_id = :w and s_i_id = ol_i_id and s_quantity < :threshold \gset
\commit
\think :pace * exponential(5, 50) s
