-- Q17: half the revenue of orders of small quantities of an item
select round({dividend(sum(ol_amount))} / 2.0, 4) as avg_yearly
from order_line, (
  select i_id, avg(ol_quantity) as usual
  from item, order_line
  where substr(i_data, length(i_data), 1) = 'b' and ol_i_id = i_id
  group by i_id) t
where ol_i_id = t.i_id and ol_quantity < t.usual;
