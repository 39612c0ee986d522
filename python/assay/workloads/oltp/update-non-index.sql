-- update-non-index: c of one row, which is in no index
\set sbtest random(0, :tables - 1)
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', \
    digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(10), pick(1, 3, 5, 7, 9))
update :{sbtest} set c = :c where id = :id;
\expect rows 1
