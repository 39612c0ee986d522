-- delete: one row by its key, if it is still there
\set sbtest random(0, :tables - 1)
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
delete from :{sbtest} where id = :id;
