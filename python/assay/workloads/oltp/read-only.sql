-- read-only: rows by their keys and four kinds of ranges, in a transaction
begin;
\set sbtest random(0, :tables - 1)
\for nth in 1..:point_selects
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
select c from :{sbtest} where id = :id;
\expect rows 1
\endfor
\if :range_selects
\set sbtest random(0, :tables - 1)
\for nth in 1..:simple_ranges
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set last :id + :range_size - 1
select c from :{sbtest} where id between :id and :last;
\expect rows least(:range_size, :table_size - :id + 1)
\endfor
\set sbtest random(0, :tables - 1)
\for nth in 1..:sum_ranges
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set last :id + :range_size - 1
select sum(k) from :{sbtest} where id between :id and :last;
\expect rows 1
\endfor
\set sbtest random(0, :tables - 1)
\for nth in 1..:order_ranges
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set last :id + :range_size - 1
select c from :{sbtest} where id between :id and :last order by c;
\expect rows least(:range_size, :table_size - :id + 1)
\endfor
\set sbtest random(0, :tables - 1)
\for nth in 1..:distinct_ranges
\set id case when random(1, 100) <= :special_percent then random(:special_first, :special_last) \
    when :is_uniform then random(1, :table_size) else random_gaussian(1, :table_size, 6) end
\set last :id + :range_size - 1
select distinct c from :{sbtest} where id between :id and :last order by c;
\expect rows least(:range_size, :table_size - :id + 1)
\endfor
\endif
commit;
