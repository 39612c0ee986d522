-- q4a_7: Q4A, rows that meet conditions 7 to 9
select kseq, k500k from bench where k100 < 41 and k1k between 850 and 950 and k10 = 7;
