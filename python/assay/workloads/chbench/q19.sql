-- Q19: revenue of three kinds of items
select round(sum(ol_amount), 2) as revenue
from order_line, item
where ol_i_id = i_id and i_price between 1 and 400000 and ol_quantity between 1 and 10
  and ((substr(i_data, length(i_data), 1) = 'a' and ol_w_id in (1, 2, 3))
    or (substr(i_data, length(i_data), 1) = 'b' and ol_w_id in (1, 2, 4))
    or (substr(i_data, length(i_data), 1) = 'c' and ol_w_id in (1, 5, 3)));
