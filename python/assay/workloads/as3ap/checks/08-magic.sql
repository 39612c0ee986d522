-- The tuples that queries look for: key 1000, the code BENCHMARKS, int 0 in hundred, SILICON VALLEY in uniques
select *
from (select 'uniques' as relation, sum(case when col_key = 1000 then 1 else 0 end) as thousand, :joined_by_key as expected,
             sum(case when col_code = 'BENCHMARKS' then 1 else 0 end) as magic,
             sum(case when col_address = 'SILICON VALLEY' then 1 else 0 end) as one
      from uniques
      union all
      select 'updates', sum(case when col_key = 1000 then 1 else 0 end), 1, sum(case when col_code = 'BENCHMARKS' then 1 else 0 end), 1
      from updates
      union all
      select 'hundred', sum(case when col_key = 1000 then 1 else 0 end), 1, sum(case when col_code = 'BENCHMARKS' then 1 else 0 end),
             sum(case when col_int = 0 then 1 else 0 end)
      from hundred
      union all
      select 'tenpct', sum(case when col_key = 1000 then 1 else 0 end), :joined_by_key,
             sum(case when col_code = 'BENCHMARKS' then 1 else 0 end), 1
      from tenpct) counted
where thousand <> expected or magic <> 1 or one <> 1;
