-- q4b_4: Q4B, rows that meet conditions 4 to 8
select kseq, k500k from bench where k5 = 3 and k25 in (11, 19) and k4 = 3 and k100 < 41 and k1k between 850 and 950;
