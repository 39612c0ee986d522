-- deleted: as many loaded orders are gone as were acknowledged
select counted.orders from (select count(*) as orders from orders where o_orderkey % 32 < 8) counted
where counted.orders > :loaded - :ok_rf2 * :refreshed or counted.orders < :loaded - (:ok_rf2 + :unknown_rf2) * :refreshed;
