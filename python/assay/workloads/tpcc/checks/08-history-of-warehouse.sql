-- 08-history-of-warehouse: TPC-C 3.3.2.8: a warehouse has taken what its history says
select w_id, w_ytd, h.total
from warehouse
left join (select h_w_id, sum(h_amount) as total from history group by h_w_id) h on h_w_id = w_id
where h.total is null or round(w_ytd - h.total, 2) <> 0;
