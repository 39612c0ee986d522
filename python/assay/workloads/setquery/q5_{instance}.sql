-- q5_{instance}: Q5, rows by the values of two columns
\set q5_first {instance} - 1
\set q5_second {instance} - 1
select :{q5_first}, :{q5_second}, count(*) from bench group by :{q5_first}, :{q5_second};
