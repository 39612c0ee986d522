-- join_4_ncl: four relations by secondary indexes
select u.col_date, h.col_date, t.col_date, d.col_date from uniques u, hundred h, tenpct t, updates d
where u.col_code = h.col_code and u.col_code = t.col_code and u.col_code = d.col_code and u.col_code = 'BENCHMARKS';
\expect rows 1
