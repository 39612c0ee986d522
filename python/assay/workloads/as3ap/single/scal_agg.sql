-- scal_agg: one aggregate
select min(col_key) from uniques;
\expect value 0
