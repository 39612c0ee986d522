-- 09-history-of-district: TPC-C 3.3.2.9: a district has taken what its history says
select d_w_id, d_id, d_ytd, h.total
from district
left join (select h_w_id, h_d_id, sum(h_amount) as total from history group by h_w_id, h_d_id) h
on h_w_id = d_w_id and h_d_id = d_id
where h.total is null or round(d_ytd - h.total, 2) <> 0;
