-- new-order-call: TPC-C 2.4 as one call of a stored procedure; items, suppliers and quantities are lists, each value after a comma
\set number :client_id
\if :home = 'random'
\set number random(0, 10 * :warehouses - 1)
\endif
\set w :number % :warehouses + 1
\set d random(1, 10)
\set c nurand(1023, 1, 3000, :c_customer)
\set lines random(5, 15)
-- One order in a hundred names an item that does not exist, and is rolled back by the procedure, which answers NULL.
\set is_wrong random(1, 100) = 1
\set all_local 1
\set items ''
\set supplies ''
\set quantities ''
\for line in 1..:lines
\set item nurand(8191, 1, 100000, :c_item)
\if :is_wrong and :line = :lines
\set item 100001
\endif
\set supply :w
\if :warehouses > 1 and random(1, 100) = 1
\set supply (:w + random(0, :warehouses - 2)) % :warehouses + 1
\set all_local 0
\endif
\set items concat(:items, ',', :item)
\set supplies concat(:supplies, ',', :supply)
\set quantities concat(:quantities, ',', random(1, 10))
\endfor
\keying 18 * :pace s
call tpcc_new_order(:w, :d, :c, :lines, :all_local, :items, :supplies, :quantities) \gset
\atomic
\if :r_order is null
\abort
\endif
\think :pace * exponential(12, 120) s
