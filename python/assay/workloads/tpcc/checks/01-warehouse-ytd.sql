-- 01-warehouse-ytd: TPC-C 3.3.2.1: a warehouse has taken as much as its districts
select w_id, w_ytd, d.total
from warehouse, (select d_w_id, sum(d_ytd) as total from district group by d_w_id) d
where d_w_id = w_id and round(w_ytd - d.total, 2) <> 0;
