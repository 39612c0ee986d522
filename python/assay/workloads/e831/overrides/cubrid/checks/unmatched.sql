-- CUBRID reserves the words at, data: here in quotes
-- unmatched: updates that ended no row or several, in place of exactly one
select name, "at", sum(began) as began, sum(ended) as ended
from (select name, start as "at", 1 as began, 0 as ended from "data" where start >= 1000000000
      union all
      select name, exp, 0, 1 from "data" where exp < 2000000000) changes
group by name, "at"
having sum(began) <> sum(ended);
