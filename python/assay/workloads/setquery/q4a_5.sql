-- q4a_5: Q4A, rows that meet conditions 5 to 7
select kseq, k500k from bench where k25 in (11, 19) and k4 = 3 and k100 < 41;
