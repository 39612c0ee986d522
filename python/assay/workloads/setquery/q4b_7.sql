-- q4b_7: Q4B, rows that meet conditions 7 to 1
select kseq, k500k from bench where k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4) and k2 = 1;
