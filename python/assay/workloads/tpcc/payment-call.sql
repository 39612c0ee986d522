-- payment-call: TPC-C 2.5 as one call of a stored procedure; a customer is named by the number, or where that is 0 by the last name
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
\set c_w (:w + random(0, greatest(0, :warehouses - 2))) % :warehouses + 1
\set c_d random(1, 10)
\endif
\set c 0
\set last ''
\if random(1, 100) <= 60
\set last lastname(nurand(255, 0, 999, :c_last_run))
\else
\set c nurand(1023, 1, 3000, :c_customer)
\endif
\keying 3 * :pace s
call tpcc_payment(:w, :d, :c_w, :c_d, :c, :last, :amount);
\atomic
\think :pace * exponential(12, 120) s
