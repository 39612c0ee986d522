-- 02-tuples: each user has its tuples in both relations, with the attributes that nothing changes
select relation
from (select 'updates' as relation, count(*) as tuples_found, min(col_key) as least_key, max(col_key) as largest_key, sum(col_decim - 100 * (col_key % 1000)) as other
      from updates
      union all
      select 'hundred' as relation, count(*) as tuples_found, min(col_key) as least_key, max(col_key) as largest_key, sum(col_int - col_key) as other
      from hundred) found
where tuples_found <> :users * :tuples or least_key <> 0 or largest_key <> :users * :tuples - 1 or other <> 0;
