-- q4a_1: Q4A, rows that meet conditions 1 to 3
select kseq, k500k from bench where k2 = 1 and k100 > 80 and k10k between 2000 and 3000;
