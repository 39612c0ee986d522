-- q4b_3: Q4B, rows that meet conditions 3 to 7
select kseq, k500k from bench where k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41;
