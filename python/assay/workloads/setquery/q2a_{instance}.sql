-- q2a_{instance}: Q2A, rows with one value in each of two columns
\set q2 {instance} - 1
select count(*) from bench where k2 = 2 and :{q2} = 3;
