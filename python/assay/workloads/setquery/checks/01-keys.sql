-- 01-keys: as many rows as asked for, and each key once
select rows_found, least_key, largest_key
from (select count(*) as rows_found, min(kseq) as least_key, max(kseq) as largest_key, count(distinct kseq) as keys_found from bench) counted
where rows_found <> :rows or least_key <> 1 or largest_key <> :rows or keys_found <> :rows;
