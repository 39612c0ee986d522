-- lost-updates: read-modify-writes whose change another one has overwritten
\set fields case when :writeallfields then :fieldcount else 1 end
\set acknowledged case when :ok_update + :unknown_update = 0 then :fields * :ok_read_modify_write else 0 end
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
-- A row for each that is lost.
\for lost in :versions + 1..least(:acknowledged, :versions + 10000)
select ycsb_key as "after" from usertable where ycsb_key = (select min(ycsb_key) from usertable);
\endfor
