-- 07-q4: the same of the rows of Q4A and Q4B
select *
from (
  select
    sum(case when k2 = 1 and k100 > 80 and k10k between 2000 and 3000 then 1 else 0 end) as s0,
    sum(case when k100 > 80 and k10k between 2000 and 3000 and k5 = 3 then 1 else 0 end) as s1,
    sum(case when k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) then 1 else 0 end) as s2,
    sum(case when k5 = 3 and k25 in (11, 19) and k4 = 3 then 1 else 0 end) as s3,
    sum(case when k25 in (11, 19) and k4 = 3 and k100 < 41 then 1 else 0 end) as s4,
    sum(case when k4 = 3 and k100 < 41 and k1k between 850 and 950 then 1 else 0 end) as s5,
    sum(case when k100 < 41 and k1k between 850 and 950 and k10 = 7 then 1 else 0 end) as s6,
    sum(case when k1k between 850 and 950 and k10 = 7 and k25 in (3, 4) then 1 else 0 end) as s7,
    sum(case when k2 = 1 and k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) then 1 else 0 end) as s8,
    sum(case when k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3 then 1 else 0 end) as s9,
    sum(case when k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41 then 1 else 0 end) as s10,
    sum(case when k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950 then 1 else 0 end) as s11,
    sum(case when k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7 then 1 else 0 end) as s12,
    sum(case when k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4) then 1 else 0 end) as s13,
    sum(case when k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4) and k2 = 1 then 1 else 0 end) as s14
  from bench) scanned,
  (select count(*) as f0 from bench where k2 = 1 and k100 > 80 and k10k between 2000 and 3000) found0,
  (select count(*) as f1 from bench where k100 > 80 and k10k between 2000 and 3000 and k5 = 3) found1,
  (select count(*) as f2 from bench where k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19)) found2,
  (select count(*) as f3 from bench where k5 = 3 and k25 in (11, 19) and k4 = 3) found3,
  (select count(*) as f4 from bench where k25 in (11, 19) and k4 = 3 and k100 < 41) found4,
  (select count(*) as f5 from bench where k4 = 3 and k100 < 41 and k1k between 850 and 950) found5,
  (select count(*) as f6 from bench where k100 < 41 and k1k between 850 and 950 and k10 = 7) found6,
  (select count(*) as f7 from bench where k1k between 850 and 950 and k10 = 7 and k25 in (3, 4)) found7,
  (select count(*) as f8 from bench where k2 = 1 and k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19)) found8,
  (select count(*) as f9 from bench where k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3) found9,
  (select count(*) as f10 from bench where k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41) found10,
  (select count(*) as f11 from bench where k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950) found11,
  (select count(*) as f12 from bench where k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7) found12,
  (select count(*) as f13 from bench where k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4)) found13,
  (select count(*) as f14 from bench where k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4) and k2 = 1) found14
where s0 <> f0 or s1 <> f1 or s2 <> f2 or s3 <> f3 or s4 <> f4 or s5 <> f5 or s6 <> f6 or s7 <> f7 or s8 <> f8 or s9 <> f9 or s10 <> f10 or s11 <> f11 or s12 <> f12 or s13 <> f13 or s14 <> f14;
