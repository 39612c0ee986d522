-- CUBRID reserves the word data: here in quotes
-- unexpired: names of which other than one row holds; without a row the name is lost, with two it is doubled
select name, sum(case when exp = 2000000000 then 1 else 0 end) as holding
from "data"
group by name
having sum(case when exp = 2000000000 then 1 else 0 end) <> 1;
