-- insert: one new row
--
-- No two clients have the same remainder, and no client the same number twice.
\set sbtest random(0, :tables - 1)
\set id :table_size + 1 + :client_id + :id_step * :transaction_number
\set k case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', \
    digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(10), pick(1, 3, 5, 7, 9))
\set pad concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11))
insert into :{sbtest} (id, k, c, pad) values (:id, :k, :c, :pad);
\expect rows 1
