-- The server has the updates that it acknowledged: before them, signed has the same values in updates and in uniques
select changed.added
from (select (select sum({summand(col_signed)}) from updates) - (select sum({summand(col_signed)}) from uniques) as added from tiny) changed
where changed.added < :ok_oltp_update or changed.added > :ok_oltp_update + :unknown_oltp_update;
