-- 03-new-orders: TPC-C 3.3.2.3: the new orders of a district have no gap
select no_w_id, no_d_id, min(no_o_id) as least, max(no_o_id) as greatest, count(*) as counted
from new_order
group by no_w_id, no_d_id
having max(no_o_id) - min(no_o_id) + 1 <> count(*);
