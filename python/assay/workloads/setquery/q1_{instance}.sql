-- q1_{instance}: Q1, rows with one value of a column
\set q1 {instance} - 1
select count(*) from bench where :{q1} = 2;
