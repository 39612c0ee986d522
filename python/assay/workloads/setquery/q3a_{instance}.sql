-- q3a_{instance}: Q3A, a sum over a range of keys and one value of a column
\set q3 {instance} - 1
select sum(k1k) from bench where kseq between :from_400 and :until_500 and :{q3} = 3;
