-- 03-changes: as many as the system acknowledged
select changed
from (select sum(col_signed - col_key % 1000) as changed from updates) found
where changed < :ok_change or changed > :ok_change + :unknown_change;
