-- deleted: at most one row less for each delete, and one at least
\for sbtest in 0..:tables - 1
\set most :ok_delete + :unknown_delete
\set least case when :tables = 1 then least(1, :ok_delete) else 0 end
select counted.gone, :ok_delete as acknowledged
from (select :table_size - count(*) as gone, min(id) as first_id, max(id) as last_id from :{sbtest}) counted
where counted.gone < :least or counted.gone > :most or counted.first_id < 1 or counted.last_id > :table_size;
\endfor
