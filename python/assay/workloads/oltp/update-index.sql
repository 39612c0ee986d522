-- update-index: k of one row, which is in an index
\set sbtest random(0, :tables - 1)
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
update :{sbtest} set k = k + 1 where id = :id;
\expect rows 1
