-- 03-shares: each condition of the queries holds for its share of the rows, within six standard deviations
select *
from (
  select
    sum(case when k2 = 2 then 1 else 0 end) as c0,
    sum(case when k4 = 2 then 1 else 0 end) as c1,
    sum(case when k5 = 2 then 1 else 0 end) as c2,
    sum(case when k10 = 2 then 1 else 0 end) as c3,
    sum(case when k25 = 2 then 1 else 0 end) as c4,
    sum(case when k100 = 2 then 1 else 0 end) as c5,
    sum(case when k1k = 2 then 1 else 0 end) as c6,
    sum(case when k10k = 2 then 1 else 0 end) as c7,
    sum(case when k100k = 2 then 1 else 0 end) as c8,
    sum(case when k40k <= 20000 then 1 else 0 end) as c9,
    sum(case when k250k <= 125000 then 1 else 0 end) as c10,
    sum(case when k500k <= 250000 then 1 else 0 end) as c11,
    sum(case when k100k <= 50000 then 1 else 0 end) as c12,
    sum(case when k2 = 1 then 1 else 0 end) as c13,
    sum(case when k100 > 80 then 1 else 0 end) as c14,
    sum(case when k10k between 2000 and 3000 then 1 else 0 end) as c15,
    sum(case when k5 = 3 then 1 else 0 end) as c16,
    sum(case when k25 in (11, 19) then 1 else 0 end) as c17,
    sum(case when k4 = 3 then 1 else 0 end) as c18,
    sum(case when k100 < 41 then 1 else 0 end) as c19,
    sum(case when k1k between 850 and 950 then 1 else 0 end) as c20,
    sum(case when k10 = 7 then 1 else 0 end) as c21,
    sum(case when k25 in (3, 4) then 1 else 0 end) as c22
  from bench) counted
where (c0 - 0.500000 * :rows) * (c0 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c1 - 0.250000 * :rows) * (c1 - 0.250000 * :rows) > 36 * (0.18750000 * :rows + 1)
  or (c2 - 0.200000 * :rows) * (c2 - 0.200000 * :rows) > 36 * (0.16000000 * :rows + 1)
  or (c3 - 0.100000 * :rows) * (c3 - 0.100000 * :rows) > 36 * (0.09000000 * :rows + 1)
  or (c4 - 0.040000 * :rows) * (c4 - 0.040000 * :rows) > 36 * (0.03840000 * :rows + 1)
  or (c5 - 0.010000 * :rows) * (c5 - 0.010000 * :rows) > 36 * (0.00990000 * :rows + 1)
  or (c6 - 0.001000 * :rows) * (c6 - 0.001000 * :rows) > 36 * (0.00099900 * :rows + 1)
  or (c7 - 0.000100 * :rows) * (c7 - 0.000100 * :rows) > 36 * (0.00009999 * :rows + 1)
  or (c8 - 0.000010 * :rows) * (c8 - 0.000010 * :rows) > 36 * (0.00001000 * :rows + 1)
  or (c9 - 0.500000 * :rows) * (c9 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c10 - 0.500000 * :rows) * (c10 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c11 - 0.500000 * :rows) * (c11 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c12 - 0.500000 * :rows) * (c12 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c13 - 0.500000 * :rows) * (c13 - 0.500000 * :rows) > 36 * (0.25000000 * :rows + 1)
  or (c14 - 0.200000 * :rows) * (c14 - 0.200000 * :rows) > 36 * (0.16000000 * :rows + 1)
  or (c15 - 0.100100 * :rows) * (c15 - 0.100100 * :rows) > 36 * (0.09007999 * :rows + 1)
  or (c16 - 0.200000 * :rows) * (c16 - 0.200000 * :rows) > 36 * (0.16000000 * :rows + 1)
  or (c17 - 0.080000 * :rows) * (c17 - 0.080000 * :rows) > 36 * (0.07360000 * :rows + 1)
  or (c18 - 0.250000 * :rows) * (c18 - 0.250000 * :rows) > 36 * (0.18750000 * :rows + 1)
  or (c19 - 0.400000 * :rows) * (c19 - 0.400000 * :rows) > 36 * (0.24000000 * :rows + 1)
  or (c20 - 0.101000 * :rows) * (c20 - 0.101000 * :rows) > 36 * (0.09079900 * :rows + 1)
  or (c21 - 0.100000 * :rows) * (c21 - 0.100000 * :rows) > 36 * (0.09000000 * :rows + 1)
  or (c22 - 0.080000 * :rows) * (c22 - 0.080000 * :rows) > 36 * (0.07360000 * :rows + 1);
