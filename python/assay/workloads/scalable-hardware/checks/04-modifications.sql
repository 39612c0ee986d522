-- 04-modifications: a hundred tuples for each that the system acknowledged
select modified
from (select sum(col_int - col_key) as modified from updates) found
where modified < 100 * :ok_modify_100 or modified > 100 * (:ok_modify_100 + :unknown_modify_100);
