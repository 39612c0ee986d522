-- q6a_{instance}: Q6A, rows of a join from one value of a column
\set q6a {instance} - 1
select count(*) from bench b1, bench b2 where b1.:{q6a} = 49 and b1.k250k = b2.k500k;
