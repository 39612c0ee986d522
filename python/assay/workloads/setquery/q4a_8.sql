-- q4a_8: Q4A, rows that meet conditions 8 to 10
select kseq, k500k from bench where k1k between 850 and 950 and k10 = 7 and k25 in (3, 4);
