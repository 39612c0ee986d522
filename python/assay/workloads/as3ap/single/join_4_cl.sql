-- join_4_cl: four relations by clustered indexes
select u.col_date, h.col_date, t.col_date, d.col_date from uniques u, hundred h, tenpct t, updates d
where u.col_key = h.col_key and u.col_key = t.col_key and u.col_key = d.col_key and u.col_key = 1000;
\expect rows :joined_by_key
