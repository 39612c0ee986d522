-- rows: each table has table_size rows, whose ids are 1 to table_size
\for sbtest in 0..:tables - 1
select counted."found", counted.first_id, counted.last_id
from (select count(*) as "found", min(id) as first_id, max(id) as last_id from :{sbtest}) counted
where counted."found" <> :table_size or counted.first_id <> 1 or counted.last_id <> :table_size;
\endfor
