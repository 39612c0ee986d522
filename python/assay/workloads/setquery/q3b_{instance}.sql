-- q3b_{instance}: Q3B, a sum over five ranges of keys and one value of a column
\set q3 {instance} - 1
select sum(k1k) from bench
where (kseq between :from_400 and :until_410 or kseq between :from_420 and :until_430 or kseq between :from_440 and :until_450
    or kseq between :from_460 and :until_470 or kseq between :from_480 and :until_500)
  and :{q3} = 3;
