-- inserted: the loaded rows are there, and each acknowledged new one, and no other
\for sbtest in 0..:tables - 1
\set most :ok_insert + :unknown_insert
\set least case when :tables = 1 then :ok_insert else 0 end
select counted.loaded, counted.added, :ok_insert as acknowledged
from (select count(case when id <= :table_size then 1 end) as loaded,
             count(case when id > :table_size then 1 end) as added from :{sbtest}) counted
where counted.loaded <> :table_size or counted.added < :least or counted.added > :most;
\endfor
