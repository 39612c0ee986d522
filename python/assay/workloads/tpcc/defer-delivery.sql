-- defer-delivery: TPC-C 2.7.2: a terminal queues a delivery, and has its answer at once
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set carrier random(1, 10)
\keying 2 * :pace s
\defer deliver w carrier
\think :pace * exponential(5, 50) s
