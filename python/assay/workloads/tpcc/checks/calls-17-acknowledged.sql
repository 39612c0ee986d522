-- calls-17-acknowledged: not TPC-C's: as 17, of transactions that are calls of procedures
select made.new_orders, :ok_new_order_call as said_new_orders, made.payments, :ok_payment_call as said_payments
from (select (select sum(d_next_o_id - 3001) from district) as new_orders,
             (select count(*) - 30000 * :warehouses from history) as payments) made
where made.new_orders < :ok_new_order_call or made.new_orders > :ok_new_order_call + :unknown_new_order_call
or made.payments < :ok_payment_call or made.payments > :ok_payment_call + :unknown_payment_call;
