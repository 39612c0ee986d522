-- Q6: revenue of lines of usual quantities
select round(sum(ol_amount), 2) as revenue
from order_line
where ol_delivery_d >= '2007-01-02 00:00:00' and ol_delivery_d < '2100-01-01 00:00:00' and ol_quantity between 1 and 100000;
