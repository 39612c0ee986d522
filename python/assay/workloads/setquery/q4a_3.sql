-- q4a_3: Q4A, rows that meet conditions 3 to 5
select kseq, k500k from bench where k10k between 2000 and 3000 and k5 = 3 and k25 in (11, 19);
