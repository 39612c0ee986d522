-- write-only: the writes of read-write, in a transaction
begin;
\set sbtest random(0, :tables - 1)
\for nth in 1..:index_updates
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
update :{sbtest} set k = k + 1 where id = :id;
\endfor
\set sbtest random(0, :tables - 1)
\for nth in 1..:non_index_updates
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', \
    digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(10), pick(1, 3, 5, 7, 9))
update :{sbtest} set c = :c where id = :id;
\endfor
\set sbtest random(0, :tables - 1)
\for nth in 1..:delete_inserts
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set k case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', \
    digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(10), pick(1, 3, 5, 7, 9))
\set pad concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11))
delete from :{sbtest} where id = :id;
insert into :{sbtest} (id, k, c, pad) values (:id, :k, :c, :pad);
\endfor
commit;
