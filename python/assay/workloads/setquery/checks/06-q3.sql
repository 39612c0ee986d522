-- 06-q3: the same of the sums of Q3A and Q3B
select *
from (
  select
    sum(case when kseq between :from_400 and :until_500 and k100k = 3 then k1k else 0 end) as s0,
    sum(case when kseq between :from_400 and :until_500 and k10k = 3 then k1k else 0 end) as s1,
    sum(case when kseq between :from_400 and :until_500 and k100 = 3 then k1k else 0 end) as s2,
    sum(case when kseq between :from_400 and :until_500 and k25 = 3 then k1k else 0 end) as s3,
    sum(case when kseq between :from_400 and :until_500 and k10 = 3 then k1k else 0 end) as s4,
    sum(case when kseq between :from_400 and :until_500 and k5 = 3 then k1k else 0 end) as s5,
    sum(case when kseq between :from_400 and :until_500 and k4 = 3 then k1k else 0 end) as s6,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k100k = 3 then k1k else 0 end) as s7,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k10k = 3 then k1k else 0 end) as s8,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k100 = 3 then k1k else 0 end) as s9,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k25 = 3 then k1k else 0 end) as s10,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k10 = 3 then k1k else 0 end) as s11,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k5 = 3 then k1k else 0 end) as s12,
    sum(case when (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k4 = 3 then k1k else 0 end) as s13
  from bench) scanned,
  (select coalesce(sum(k1k), 0) as f0 from bench where kseq between :from_400 and :until_500 and k100k = 3) found0,
  (select coalesce(sum(k1k), 0) as f1 from bench where kseq between :from_400 and :until_500 and k10k = 3) found1,
  (select coalesce(sum(k1k), 0) as f2 from bench where kseq between :from_400 and :until_500 and k100 = 3) found2,
  (select coalesce(sum(k1k), 0) as f3 from bench where kseq between :from_400 and :until_500 and k25 = 3) found3,
  (select coalesce(sum(k1k), 0) as f4 from bench where kseq between :from_400 and :until_500 and k10 = 3) found4,
  (select coalesce(sum(k1k), 0) as f5 from bench where kseq between :from_400 and :until_500 and k5 = 3) found5,
  (select coalesce(sum(k1k), 0) as f6 from bench where kseq between :from_400 and :until_500 and k4 = 3) found6,
  (select coalesce(sum(k1k), 0) as f7 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k100k = 3) found7,
  (select coalesce(sum(k1k), 0) as f8 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k10k = 3) found8,
  (select coalesce(sum(k1k), 0) as f9 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k100 = 3) found9,
  (select coalesce(sum(k1k), 0) as f10 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k25 = 3) found10,
  (select coalesce(sum(k1k), 0) as f11 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k10 = 3) found11,
  (select coalesce(sum(k1k), 0) as f12 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k5 = 3) found12,
  (select coalesce(sum(k1k), 0) as f13 from bench where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450 or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500) and k4 = 3) found13
where s0 <> f0 or s1 <> f1 or s2 <> f2 or s3 <> f3 or s4 <> f4 or s5 <> f5 or s6 <> f6 or s7 <> f7 or s8 <> f8 or s9 <> f9 or s10 <> f10 or s11 <> f11 or s12 <> f12 or s13 <> f13;
