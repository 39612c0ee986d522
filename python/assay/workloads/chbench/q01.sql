-- Q1: what was delivered, by the number of the line
select ol_number, sum(ol_quantity) as sum_qty, round(sum(ol_amount), 2) as sum_amount, round(avg(ol_quantity), 4) as avg_qty,
  round(avg(ol_amount), 4) as avg_amount, count(*) as count_order
from order_line
where ol_delivery_d > '2007-01-02 00:00:00'
group by ol_number
order by ol_number;
