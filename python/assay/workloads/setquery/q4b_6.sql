-- q4b_6: Q4B, rows that meet conditions 6 to 10
select kseq, k500k from bench where k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7 and k25 in (3, 4);
