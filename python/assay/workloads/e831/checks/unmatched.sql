-- unmatched: updates that ended no row or several, in place of exactly one
select name, instant, sum(began) as began, sum(ended) as ended
from (select name, "start" as instant, 1 as began, 0 as ended from "data" where "start" >= 1000000000
      union all
      select name, exp, 0, 1 from "data" where exp < 2000000000) changes
group by name, instant
having sum(began) <> sum(ended);
