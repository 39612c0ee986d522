-- q4b_5: Q4B, rows that meet conditions 5 to 9
select kseq, k500k from bench where k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950 and k10 = 7;
