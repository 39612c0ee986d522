-- inserted: as many new orders as were acknowledged
select found.orders from (select count(*) as orders from orders where o_orderkey % 32 >= 8) found
where found.orders < :ok_rf1 * :refreshed or found.orders > (:ok_rf1 + :unknown_rf1) * :refreshed;
