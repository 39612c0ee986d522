-- Dense keys: every integer from 0 to n but 1
select *
from (select 'updates' as relation, count(distinct col_key) as keys_, min(col_key) as least, max(col_key) as most,
             sum(case when col_key = 1 then 1 else 0 end) as ones, sum(case when col_key <> col_int then 1 else 0 end) as other_ints
      from updates
      union all
      select 'hundred', count(distinct col_key), min(col_key), max(col_key), sum(case when col_key = 1 then 1 else 0 end), 0
      from hundred) counted
where keys_ <> :tuples or least <> 0 or most <> :tuples or ones <> 0 or other_ints <> 0;
