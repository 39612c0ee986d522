-- 16-payments: not TPC-C's: a customer has as many payments as lines in the history
select c_w_id, c_d_id, c_id, c_payment_cnt, h.counted
from customer
left join (select h_c_w_id, h_c_d_id, h_c_id, count(*) as counted from history group by h_c_w_id, h_c_d_id, h_c_id) h
on h.h_c_w_id = c_w_id and h.h_c_d_id = c_d_id and h.h_c_id = c_id
where c_payment_cnt <> coalesce(h.counted, 0);
