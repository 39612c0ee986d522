-- table_scan: a scan: no tuple has this value, and no index is on it
select * from uniques where col_int = 1;
\expect rows 0
