-- 09-q6: the rows of the joins of Q6A and Q6B are those of their groups, multiplied
select 'k100k = 49' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k100k = 49 and b1.k250k = b2.k500k) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k100k = 49 group by k250k) a,
     (select k500k, count(*) as n from bench group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k40k = 49' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k40k = 49 and b1.k250k = b2.k500k) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k40k = 49 group by k250k) a,
     (select k500k, count(*) as n from bench group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k10k = 49' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k10k = 49 and b1.k250k = b2.k500k) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k10k = 49 group by k250k) a,
     (select k500k, count(*) as n from bench group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k1k = 49' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k1k = 49 and b1.k250k = b2.k500k) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k1k = 49 group by k250k) a,
     (select k500k, count(*) as n from bench group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k100 = 49' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k100 = 49 and b1.k250k = b2.k500k) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k100 = 49 group by k250k) a,
     (select k500k, count(*) as n from bench group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k40k = 99' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k40k = 99 and b1.k250k = b2.k500k and b2.k25 = 19) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k40k = 99 group by k250k) a,
     (select k500k, count(*) as n from bench where k25 = 19 group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k10k = 99' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k10k = 99 and b1.k250k = b2.k500k and b2.k25 = 19) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k10k = 99 group by k250k) a,
     (select k500k, count(*) as n from bench where k25 = 19 group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k1k = 99' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k1k = 99 and b1.k250k = b2.k500k and b2.k25 = 19) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k1k = 99 group by k250k) a,
     (select k500k, count(*) as n from bench where k25 = 19 group by k500k) b
   where k250k = k500k) m
where joined <> multiplied
union all
select 'k100 = 99' as condition_
from (select count(*) as joined from bench b1, bench b2 where b1.k100 = 99 and b1.k250k = b2.k500k and b2.k25 = 19) j,
  (select coalesce(sum(a.n * b.n), 0) as multiplied
   from (select k250k, count(*) as n from bench where k100 = 99 group by k250k) a,
     (select k500k, count(*) as n from bench where k25 = 19 group by k500k) b
   where k250k = k500k) m
where joined <> multiplied;
