-- q2b_{instance}: Q2B, rows with one value of a column and not one of another
\set q2 {instance} - 1
select count(*) from bench where k2 = 2 and not :{q2} = 3;
