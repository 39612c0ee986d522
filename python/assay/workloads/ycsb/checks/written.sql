-- written: if anything was acknowledged as written, something is there that was not loaded
\set acknowledged :ok_update + :ok_read_modify_write + :ok_insert
\set least least(1, :acknowledged)
\set most :fieldcount * (:acknowledged + :unknown_update + :unknown_read_modify_write + :unknown_insert)
select counted.written, :acknowledged as acknowledged
from (select count(*) as written from usertable
      where substr(field0, 7, 12) <> '000000000000'
      or substr(field1, 7, 12) <> '000000000000'
      or substr(field2, 7, 12) <> '000000000000'
      or substr(field3, 7, 12) <> '000000000000'
      or substr(field4, 7, 12) <> '000000000000'
      or substr(field5, 7, 12) <> '000000000000'
      or substr(field6, 7, 12) <> '000000000000'
      or substr(field7, 7, 12) <> '000000000000'
      or substr(field8, 7, 12) <> '000000000000'
      or substr(field9, 7, 12) <> '000000000000') counted
where counted.written < :least or counted.written > :most;
