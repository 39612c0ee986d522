-- 02-ranges: the values of a column kN are between 1 and N
select kseq
from bench
where k500k < 1 or k500k > 500000
  or k250k < 1 or k250k > 250000
  or k100k < 1 or k100k > 100000
  or k40k < 1 or k40k > 40000
  or k10k < 1 or k10k > 10000
  or k1k < 1 or k1k > 1000
  or k100 < 1 or k100 > 100
  or k25 < 1 or k25 > 25
  or k10 < 1 or k10 > 10
  or k5 < 1 or k5 > 5
  or k4 < 1 or k4 > 4
  or k2 < 1 or k2 > 2;
