-- 04-q1: the counts of Q1, which an index may give, are those of a scan
select *
from (
  select
    sum(case when kseq = 2 then 1 else 0 end) as s0,
    sum(case when k100k = 2 then 1 else 0 end) as s1,
    sum(case when k10k = 2 then 1 else 0 end) as s2,
    sum(case when k1k = 2 then 1 else 0 end) as s3,
    sum(case when k100 = 2 then 1 else 0 end) as s4,
    sum(case when k25 = 2 then 1 else 0 end) as s5,
    sum(case when k10 = 2 then 1 else 0 end) as s6,
    sum(case when k5 = 2 then 1 else 0 end) as s7,
    sum(case when k4 = 2 then 1 else 0 end) as s8,
    sum(case when k2 = 2 then 1 else 0 end) as s9
  from bench) scanned,
  (select count(*) as f0 from bench where kseq = 2) found0,
  (select count(*) as f1 from bench where k100k = 2) found1,
  (select count(*) as f2 from bench where k10k = 2) found2,
  (select count(*) as f3 from bench where k1k = 2) found3,
  (select count(*) as f4 from bench where k100 = 2) found4,
  (select count(*) as f5 from bench where k25 = 2) found5,
  (select count(*) as f6 from bench where k10 = 2) found6,
  (select count(*) as f7 from bench where k5 = 2) found7,
  (select count(*) as f8 from bench where k4 = 2) found8,
  (select count(*) as f9 from bench where k2 = 2) found9
where s0 <> f0 or s1 <> f1 or s2 <> f2 or s3 <> f3 or s4 <> f4 or s5 <> f5 or s6 <> f6 or s7 <> f7 or s8 <> f8 or s9 <> f9;
