-- 17-acknowledged: not TPC-C's: the server has every new order and payment that it said was done, and none that it did not
select made.new_orders, :ok_new_order as said_new_orders, made.payments, :ok_payment as said_payments
from (select (select sum(d_next_o_id - 3001) from district) as new_orders,
             (select count(*) - 30000 * :warehouses from history) as payments) made
where made.new_orders < :ok_new_order or made.new_orders > :ok_new_order + :unknown_new_order
or made.payments < :ok_payment or made.payments > :ok_payment + :unknown_payment;
