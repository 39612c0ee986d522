-- procedures: the same in the procedural language of MySQL and MariaDB; new order and payment commit by themselves
create procedure tpcc_new_order(
  p_w int, p_d int, p_c int, p_lines int, p_all_local int, p_items text, p_supplies text, p_quantities text)
entered: begin
  declare v_line int default 1;
  declare v_order int;
  declare v_item int;
  declare v_supply int;
  declare v_quantity int;
  declare v_d_tax decimal(4,4);
  declare v_w_tax decimal(4,4);
  declare v_discount decimal(4,4);
  declare v_price decimal(5,2);
  declare v_info char(24);
  declare v_total decimal(12,2) default 0;
  declare exit handler for sqlexception begin rollback; resignal; end;
  set transaction isolation level read committed;
  start transaction;
  update district set d_next_o_id = d_next_o_id + 1 where d_w_id = p_w and d_id = p_d;
  select d_next_o_id - 1, d_tax into v_order, v_d_tax from district where d_w_id = p_w and d_id = p_d;
  select w_tax into v_w_tax from warehouse where w_id = p_w;
  select c_discount into v_discount from customer where c_w_id = p_w and c_d_id = p_d and c_id = p_c;
  insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  values (v_order, p_d, p_w, p_c, current_timestamp, null, p_lines, p_all_local);
  insert into new_order (no_o_id, no_d_id, no_w_id) values (v_order, p_d, p_w);
  while v_line <= p_lines do
    set v_item = substring_index(substring_index(p_items, ',', v_line + 1), ',', -1);
    set v_supply = substring_index(substring_index(p_supplies, ',', v_line + 1), ',', -1);
    set v_quantity = substring_index(substring_index(p_quantities, ',', v_line + 1), ',', -1);
    update stock
    set s_quantity = case when s_quantity >= v_quantity + 10 then s_quantity - v_quantity else s_quantity - v_quantity + 91 end,
        s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + case when v_supply = p_w then 0 else 1 end
    where s_w_id = v_supply and s_i_id = v_item;
    if row_count() = 0 then
      rollback;
      select null as r_order, null as r_total;
      leave entered;
    end if;
    select i_price, case p_d when 1 then s_dist_01 when 2 then s_dist_02 when 3 then s_dist_03 when 4 then s_dist_04 when 5 then s_dist_05 when 6 then s_dist_06 when 7 then s_dist_07 when 8 then s_dist_08 when 9 then s_dist_09 when 10 then s_dist_10 end into v_price, v_info
    from item, stock where i_id = v_item and s_w_id = v_supply and s_i_id = i_id;
    insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    values (v_order, p_d, p_w, v_line, v_item, v_supply, null, v_quantity, v_quantity * v_price, v_info);
    set v_total = v_total + v_quantity * v_price;
    set v_line = v_line + 1;
  end while;
  commit;
  select v_order as r_order, v_total * (1 - v_discount) * (1 + v_w_tax + v_d_tax) as r_total;
end;

create procedure tpcc_payment(
  p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_last varchar(16), p_amount decimal(12,2))
begin
  declare v_customer int default p_c;
  declare v_before int;
  declare v_w_name varchar(10);
  declare v_d_name varchar(10);
  declare v_credit char(2);
  declare v_balance decimal(12,2);
  declare exit handler for sqlexception begin rollback; resignal; end;
  set transaction isolation level read committed;
  start transaction;
  update warehouse set w_ytd = w_ytd + p_amount where w_id = p_w;
  select w_name into v_w_name from warehouse where w_id = p_w;
  update district set d_ytd = d_ytd + p_amount where d_w_id = p_w and d_id = p_d;
  select d_name into v_d_name from district where d_w_id = p_w and d_id = p_d;
  if p_c = 0 then
    select (count(*) - 1) div 2 into v_before from customer where c_w_id = p_c_w and c_d_id = p_c_d and c_last = p_last;
    select c_id into v_customer from customer where c_w_id = p_c_w and c_d_id = p_c_d and c_last = p_last
    order by c_first limit 1 offset v_before;
  end if;
  update customer
  set c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1
  where c_w_id = p_c_w and c_d_id = p_c_d and c_id = v_customer;
  select c_credit, c_balance into v_credit, v_balance from customer where c_w_id = p_c_w and c_d_id = p_c_d and c_id = v_customer;
  if v_credit = 'BC' then
    update customer
    set c_data = substr(concat_ws(' ', v_customer, p_c_d, p_c_w, p_d, p_w, p_amount, c_data), 1, 500)
    where c_w_id = p_c_w and c_d_id = p_c_d and c_id = v_customer;
  end if;
  insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  values (v_customer, p_c_d, p_c_w, p_d, p_w, current_timestamp, p_amount, concat(v_w_name, '    ', v_d_name));
  commit;
  select v_customer as customer, v_balance as balance;
end;

create procedure tpcc_delivery(p_w int, p_carrier int)
begin
  declare v_district int default 1;
  declare v_delivered int default 0;
  declare v_order int;
  declare v_customer int;
  declare v_total decimal(12,2);
  while v_district <= 10 do
    set v_order = null;
    select min(no_o_id) into v_order from (
      select no_o_id from new_order where no_w_id = p_w and no_d_id = v_district order by no_o_id limit 1 for update) oldest;
    if v_order is not null then
      delete from new_order where no_w_id = p_w and no_d_id = v_district and no_o_id = v_order;
      select o_c_id into v_customer from orders where o_w_id = p_w and o_d_id = v_district and o_id = v_order;
      update orders set o_carrier_id = p_carrier where o_w_id = p_w and o_d_id = v_district and o_id = v_order;
      update order_line set ol_delivery_d = current_timestamp where ol_w_id = p_w and ol_d_id = v_district and ol_o_id = v_order;
      select sum(ol_amount) into v_total from order_line where ol_w_id = p_w and ol_d_id = v_district and ol_o_id = v_order;
      update customer set c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
      where c_w_id = p_w and c_d_id = v_district and c_id = v_customer;
      set v_delivered = v_delivered + 1;
    end if;
    set v_district = v_district + 1;
  end while;
  select v_delivered as delivered;
end;

create function tpcc_order_status(p_w int, p_d int, p_c int, p_last varchar(16)) returns text reads sql data
begin
  declare v_customer int default p_c;
  declare v_before int;
  declare v_order int;
  declare v_shown text;
  declare v_lines text;
  if p_c = 0 then
    select (count(*) - 1) div 2 into v_before from customer where c_w_id = p_w and c_d_id = p_d and c_last = p_last;
    select c_id into v_customer from customer where c_w_id = p_w and c_d_id = p_d and c_last = p_last
    order by c_first limit 1 offset v_before;
  end if;
  select concat_ws(' ', c_first, c_middle, c_last, c_balance) into v_shown
  from customer where c_w_id = p_w and c_d_id = p_d and c_id = v_customer;
  select o_id, concat_ws(' ', v_shown, o_id, o_entry_d, o_carrier_id) into v_order, v_shown
  from orders where o_w_id = p_w and o_d_id = p_d and o_c_id = v_customer order by o_id desc limit 1;
  select group_concat(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d) separator ';') into v_lines
  from order_line where ol_w_id = p_w and ol_d_id = p_d and ol_o_id = v_order;
  return concat_ws(';', v_shown, v_lines);
end;

create function tpcc_stock_level(p_w int, p_d int, p_threshold int) returns bigint reads sql data
begin
  declare v_next int;
  declare v_low bigint;
  select d_next_o_id into v_next from district where d_w_id = p_w and d_id = p_d;
  select count(distinct s_i_id) into v_low from order_line, stock
  where ol_w_id = p_w and ol_d_id = p_d and ol_o_id < v_next and ol_o_id >= v_next - 20
  and s_w_id = p_w and s_i_id = ol_i_id and s_quantity < p_threshold;
  return v_low;
end;
