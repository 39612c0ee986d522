-- q4a_6: Q4A, rows that meet conditions 6 to 8
select kseq, k500k from bench where k4 = 3 and k100 < 41 and k1k between 850 and 950;
