-- order-status-call: TPC-C 2.6 as one call of a stored function, which reads one snapshot
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d random(1, 10)
\set c 0
\set last ''
\if random(1, 100) <= 60
\set last lastname(nurand(255, 0, 999, :c_last_run))
\else
\set c nurand(1023, 1, 3000, :c_customer)
\endif
\keying 2 * :pace s
\begin repeatable read
select tpcc_order_status(:w, :d, :c, :last) as shown;
\expect rows 1
\commit
\think :pace * exponential(10, 100) s
