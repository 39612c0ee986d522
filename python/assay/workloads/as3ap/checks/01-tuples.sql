-- Tuples of each relation
select relation, "found"
from (select 'uniques' as relation, count(*) as "found", :tuples as expected from uniques
      union all select 'updates', count(*), :tuples from updates
      union all select 'hundred', count(*), :tuples from hundred
      union all select 'tenpct', count(*), :tuples from tenpct
      union all select 'tiny', count(*), 1 from tiny) counted
where "found" <> expected;
