-- func_agg: an aggregate for each of a hundred groups
select min(col_key) from hundred group by col_name;
\expect rows 100
