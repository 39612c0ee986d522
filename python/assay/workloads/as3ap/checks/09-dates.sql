-- Dates: uniform from 1 January 1900 to 1 December 2000 (osdb: to 31 December 1999)
select *
from (select 'uniques' as relation, min(col_date) as least, max(col_date) as most,
             sum(case when col_date < '1950-01-01 00:00:00' then 1.0 else 0.0 end) / count(*) as half from uniques
      union all
      select 'updates', min(col_date), max(col_date), sum(case when col_date < '1950-01-01 00:00:00' then 1.0 else 0.0 end) / count(*) from updates
      union all
      select 'hundred', min(col_date), max(col_date), sum(case when col_date < '1950-01-01 00:00:00' then 1.0 else 0.0 end) / count(*) from hundred
      union all
      select 'tenpct', min(col_date), max(col_date), sum(case when col_date < '1950-01-01 00:00:00' then 1.0 else 0.0 end) / count(*) from tenpct) counted
where least < '1900-01-01 00:00:00' or least > '1900-03-01 00:00:00'
or most > '2000-12-01 00:00:00' or most < '1999-11-01 00:00:00' or half not between 0.47 and 0.53;
