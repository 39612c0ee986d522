-- 08-q5: the groups of Q5 have all rows, and one of them as many as a search finds
select 'k2, k100' as columns_
from (select sum(n) as all_rows, sum(case when k2 = 2 and k100 = 3 then n else 0 end) as one_group
      from (select k2, k100, count(*) as n from bench group by k2, k100) grouped) g,
  (select count(*) as "found" from bench where k2 = 2 and k100 = 3) f
where all_rows <> :rows or one_group <> "found"
union all
select 'k4, k25' as columns_
from (select sum(n) as all_rows, sum(case when k4 = 2 and k25 = 3 then n else 0 end) as one_group
      from (select k4, k25, count(*) as n from bench group by k4, k25) grouped) g,
  (select count(*) as "found" from bench where k4 = 2 and k25 = 3) f
where all_rows <> :rows or one_group <> "found"
union all
select 'k10, k25' as columns_
from (select sum(n) as all_rows, sum(case when k10 = 2 and k25 = 3 then n else 0 end) as one_group
      from (select k10, k25, count(*) as n from bench group by k10, k25) grouped) g,
  (select count(*) as "found" from bench where k10 = 2 and k25 = 3) f
where all_rows <> :rows or one_group <> "found";
