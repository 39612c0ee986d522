-- report: a hundred groups of the user's own set; the processor
\set first (:client_id % :users) * :tuples
\set last :first + :tuples - 1
select col_signed, count(*) as tuples_found, min(col_name) as least_name, max(col_code) as largest_code, avg(col_double) as average
from hundred
where col_key between :first and :last
group by col_signed
order by average desc, col_signed;
\expect rows 100
