-- strict-rows: as many accounts, tellers and branches as the scale says
select counted.named, counted."found", counted.expected
from (select 'accounts' as named, count(*) as "found", 100000 * :scale as expected from accounts
      union all
      select 'tellers', count(*), 10 * :scale from tellers
      union all
      select 'branches', count(*), 1 * :scale from branches) counted
where counted."found" <> counted.expected;
