-- inserted: as many new orders as were acknowledged
select counted.orders from (select count(*) as orders from orders where o_orderkey % 32 >= 8) counted
where counted.orders < :ok_rf1 * :refreshed or counted.orders > (:ok_rf1 + :unknown_rf1) * :refreshed;
