-- q6b_{instance}: Q6B, a join between one value of a column and one of another
\set q6b {instance} - 1
select b1.kseq, b2.kseq from bench b1, bench b2 where b1.:{q6b} = 99 and b1.k250k = b2.k500k and b2.k25 = 19;
