-- q4a_4: Q4A, rows that meet conditions 4 to 6
select kseq, k500k from bench where k5 = 3 and k25 in (11, 19) and k4 = 3;
