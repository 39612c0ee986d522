-- k-sum: each acknowledged update of k is there, and no other
\for sbtest in 0..:tables - 1
\set loaded :table_size * (:table_size + 1) / 2
\set most :ok_update_index + :unknown_update_index
-- Of several tables nothing says how many updates each has: all of them at most.
\set least case when :tables = 1 then :ok_update_index else 0 end
select summed.added, :least as acknowledged
from (select sum({summand(k)}) - :loaded as added from :{sbtest}) summed
where summed.added < :least or summed.added > :most;
\endfor
