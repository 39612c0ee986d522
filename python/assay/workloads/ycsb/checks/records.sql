-- records: as many records as were loaded, and each that an insert was acknowledged for
\set least :recordcount + :ok_insert
\set most :least + :unknown_insert
select counted.records, :ok_insert as acknowledged
from (select count(*) as records from usertable) counted
where counted.records < :least or counted.records > :most;
