-- 05-own-sets: nothing was changed in a set that no user has
select col_key
from updates
where col_key >= :clients * :tuples and (col_signed <> col_key % 1000 or col_int <> col_key);
