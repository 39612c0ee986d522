-- Tuples of each relation
select relation, "found"
from (select 'tenktup1' as relation, count(*) as "found", :tuples as expected from tenktup1
      union all select 'tenktup2', count(*), :tuples from tenktup2
      union all select 'onektup', count(*), :tuples / 10 from onektup) counted
where "found" <> expected;
