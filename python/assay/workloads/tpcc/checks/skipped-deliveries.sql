-- skipped-deliveries: TPC-C 2.7.4.2: at most 1 % of the districts that deliveries came to had no order to deliver; found and counted, no fault
select made.skipped, 10 * :ok_deliver as asked
from (select 10 * :ok_deliver - sum(c_delivery_cnt) as skipped from customer) made
where made.skipped > 1 and 100 * made.skipped > 10 * :ok_deliver;
