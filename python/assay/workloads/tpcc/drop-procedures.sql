-- drop-procedures: the server is left without what procedures made
drop procedure tpcc_new_order;
drop procedure tpcc_payment;
drop procedure tpcc_delivery;
drop function tpcc_order_status;
drop function tpcc_stock_level;
