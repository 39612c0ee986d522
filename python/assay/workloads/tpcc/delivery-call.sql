-- delivery-call: TPC-C 2.7 as one call of a stored procedure; the oldest new order of each district, and none where a district has none
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set carrier random(1, 10)
\keying 2 * :pace s
\begin repeatable read
call tpcc_delivery(:w, :carrier);
\atomic
\commit
\think :pace * exponential(5, 50) s
