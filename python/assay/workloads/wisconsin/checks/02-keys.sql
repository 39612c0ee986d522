-- Keys: unique1 and unique2 have each number from 0 once
select relation, ones, twos, least, greatest
from (select 'tenktup1' as relation, count(distinct unique1) as ones, count(distinct unique2) as twos,
      min(unique1) + min(unique2) as least, max(unique1) + max(unique2) as greatest, :tuples as expected from tenktup1
      union all select 'tenktup2' as relation, count(distinct unique1) as ones, count(distinct unique2) as twos,
      min(unique1) + min(unique2) as least, max(unique1) + max(unique2) as greatest, :tuples as expected from tenktup2
      union all select 'onektup' as relation, count(distinct unique1) as ones, count(distinct unique2) as twos,
      min(unique1) + min(unique2) as least, max(unique1) + max(unique2) as greatest, :tuples / 10 as expected from onektup) counted
where ones <> expected or twos <> expected or least <> 0 or greatest <> 2 * (expected - 1);
