-- Sparse keys: all different, from 0 to 10^9 without 1, a tenth of them up to 10^8
select *
from (select 'uniques' as relation, count(distinct col_key) as keys_, min(col_key) as least, max(col_key) as most,
             sum(case when col_key <= 100000000 then 1 else 0 end) as tenth, sum(case when col_key = 1 then 1 else 0 end) as ones,
             sum(case when col_key <> col_int then 1 else 0 end) as other_ints
      from uniques
      union all
      select 'tenpct', count(distinct col_key), min(col_key), max(col_key),
             sum(case when col_key <= 100000000 then 1 else 0 end), sum(case when col_key = 1 then 1 else 0 end),
             sum(case when col_key <> col_int then 1 else 0 end)
      from tenpct
      union all
      select 'hundred.int', count(distinct col_int), min(col_int), max(col_int),
             sum(case when col_int <= 100000000 then 1 else 0 end), sum(case when col_int = 1 then 1 else 0 end), 0
      from hundred) counted
where keys_ <> :tuples or least <> 0 or most <> 1000000000 or tenth <> :tuples / 10 or ones <> 0 or other_ints <> 0;
