-- Q14: the share of promoted items in the revenue
select round(100.00 * {dividend(sum(case when substr(i_data, 1, 1) = 'P' then ol_amount else 0 end))} / (1 + sum(ol_amount)), 6) as promo_revenue
from order_line, item
where ol_i_id = i_id and ol_delivery_d >= '2007-01-02 00:00:00' and ol_delivery_d < '2100-01-01 00:00:00';
