-- versions: no read-modify-write is there twice, and where they are transactions none is lost
-- An update sets a field's version back, so that beside updates something may be missing.
\set fields case when :writeallfields then :fieldcount else 1 end
\set least case when :in_transaction and :ok_update + :unknown_update = 0 then :fields * :ok_read_modify_write else 0 end
\set most :fields * (:ok_read_modify_write + :unknown_read_modify_write)
select coalesce(sum(cast(substr(field0, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field1, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field2, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field3, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field4, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field5, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field6, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field7, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field8, 1, 6) as decimal(18,0))), 0)
    + coalesce(sum(cast(substr(field9, 1, 6) as decimal(18,0))), 0) as versions
from usertable
\gset
\assert :versions >= :least and :versions <= :most
