-- deleted: as many loaded orders are gone as were acknowledged
select found.orders from (select count(*) as orders from orders where o_orderkey % 32 < 8) found
where found.orders > :loaded - :ok_rf2 * :refreshed or found.orders < :loaded - (:ok_rf2 + :unknown_rf2) * :refreshed;
