-- q4b_2: Q4B, rows that meet conditions 2 to 6
select kseq, k500k from bench where k100 > 80 and k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19) and k4 = 3;
