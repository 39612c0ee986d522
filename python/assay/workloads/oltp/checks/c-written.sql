-- c-written: as many rows have a new c as updates could write, and one at least
\for sbtest in 0..:tables - 1
\set most :ok_update_non_index + :unknown_update_non_index
\set least case when :tables = 1 then least(1, :ok_update_non_index) else 0 end
select written."rows", :ok_update_non_index as acknowledged
from (select count(*) as "rows" from :{sbtest} where substr(c, 119, 1) in ('1', '3', '5', '7', '9')) written
where written."rows" < :least or written."rows" > :most;
\endfor
