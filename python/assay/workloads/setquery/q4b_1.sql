-- q4b_1: Q4B, rows that meet conditions 1 to 5
select kseq, k500k from bench where k2 = 1 and k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19);
