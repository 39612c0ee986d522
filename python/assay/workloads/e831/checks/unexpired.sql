-- unexpired: names that have not exactly one row that holds: with none a name is lost, with two it is doubled
select name, sum(case when exp = 2000000000 then 1 else 0 end) as holding
from "data"
group by name
having sum(case when exp = 2000000000 then 1 else 0 end) <> 1;
