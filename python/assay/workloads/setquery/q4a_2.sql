-- q4a_2: Q4A, rows that meet conditions 2 to 4
select kseq, k500k from bench where k100 > 80 and k10k between 2000 and 3000 and k5 = 3;
