-- stock-level-call: TPC-C 2.8 as one call of a stored function
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d :number / :warehouses % 10 + 1
\set threshold random(10, 20)
\keying 2 * :pace s
select tpcc_stock_level(:w, :d, :threshold) as low;
\expect rows 1
\think :pace * exponential(5, 50) s
