-- procedures: the five transactions in PL/pgSQL; what they answer is what a terminal shows
create procedure tpcc_new_order(
  p_w int, p_d int, p_c int, p_lines int, p_all_local int, p_items text, p_supplies text, p_quantities text,
  inout r_order int default null, inout r_total numeric default null)
language plpgsql as $body$
declare
  items int[] := string_to_array(substr(p_items, 2), ',');
  supplies int[] := string_to_array(substr(p_supplies, 2), ',');
  quantities int[] := string_to_array(substr(p_quantities, 2), ',');
  v_d_tax numeric; v_w_tax numeric; v_discount numeric; v_price numeric; v_info text;
begin
  update district set d_next_o_id = d_next_o_id + 1 where d_w_id = p_w and d_id = p_d
  returning d_next_o_id - 1, d_tax into strict r_order, v_d_tax;
  select w_tax into strict v_w_tax from warehouse where w_id = p_w;
  select c_discount into strict v_discount from customer where c_w_id = p_w and c_d_id = p_d and c_id = p_c;
  insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  values (r_order, p_d, p_w, p_c, current_timestamp, null, p_lines, p_all_local);
  insert into new_order (no_o_id, no_d_id, no_w_id) values (r_order, p_d, p_w);
  r_total := 0;
  for line in 1..p_lines loop
    update stock
    set s_quantity = case when s_quantity >= quantities[line] + 10 then s_quantity - quantities[line] else s_quantity - quantities[line] + 91 end,
        s_ytd = s_ytd + quantities[line], s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + case when supplies[line] = p_w then 0 else 1 end
    where s_w_id = supplies[line] and s_i_id = items[line]
    returning case p_d when 1 then s_dist_01 when 2 then s_dist_02 when 3 then s_dist_03 when 4 then s_dist_04 when 5 then s_dist_05 when 6 then s_dist_06 when 7 then s_dist_07 when 8 then s_dist_08 when 9 then s_dist_09 when 10 then s_dist_10 end into v_info;
    if not found then
      rollback;
      r_order := null;
      return;
    end if;
    select i_price into strict v_price from item where i_id = items[line];
    insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    values (r_order, p_d, p_w, line, items[line], supplies[line], null, quantities[line], quantities[line] * v_price, v_info);
    r_total := r_total + quantities[line] * v_price;
  end loop;
  r_total := r_total * (1 - v_discount) * (1 + v_w_tax + v_d_tax);
end $body$;

create procedure tpcc_payment(
  p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_last text, p_amount numeric,
  inout r_customer int default null, inout r_balance numeric default null)
language plpgsql as $body$
declare
  v_w_name text; v_d_name text; v_credit text; v_namesakes int;
begin
  update warehouse set w_ytd = w_ytd + p_amount where w_id = p_w returning w_name into strict v_w_name;
  update district set d_ytd = d_ytd + p_amount where d_w_id = p_w and d_id = p_d returning d_name into strict v_d_name;
  r_customer := p_c;
  if p_c = 0 then
    select count(*) into v_namesakes from customer where c_w_id = p_c_w and c_d_id = p_c_d and c_last = p_last;
    select c_id into strict r_customer from customer where c_w_id = p_c_w and c_d_id = p_c_d and c_last = p_last
    order by c_first limit 1 offset (v_namesakes - 1) / 2;
  end if;
  update customer
  set c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1
  where c_w_id = p_c_w and c_d_id = p_c_d and c_id = r_customer
  returning c_credit, c_balance into strict v_credit, r_balance;
  if v_credit = 'BC' then
    update customer
    set c_data = substr(concat_ws(' ', r_customer, p_c_d, p_c_w, p_d, p_w, p_amount, c_data), 1, 500)
    where c_w_id = p_c_w and c_d_id = p_c_d and c_id = r_customer;
  end if;
  insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  values (r_customer, p_c_d, p_c_w, p_d, p_w, current_timestamp, p_amount, concat(v_w_name, '    ', v_d_name));
end $body$;

create procedure tpcc_delivery(p_w int, p_carrier int, inout r_delivered int default null)
language plpgsql as $body$
declare
  v_order int; v_customer int; v_total numeric;
begin
  r_delivered := 0;
  for district in 1..10 loop
    select no_o_id into v_order from new_order where no_w_id = p_w and no_d_id = district order by no_o_id limit 1 for update;
    continue when not found;
    delete from new_order where no_w_id = p_w and no_d_id = district and no_o_id = v_order;
    update orders set o_carrier_id = p_carrier where o_w_id = p_w and o_d_id = district and o_id = v_order
    returning o_c_id into strict v_customer;
    update order_line set ol_delivery_d = current_timestamp where ol_w_id = p_w and ol_d_id = district and ol_o_id = v_order;
    select sum(ol_amount) into strict v_total from order_line where ol_w_id = p_w and ol_d_id = district and ol_o_id = v_order;
    update customer set c_balance = c_balance + v_total, c_delivery_cnt = c_delivery_cnt + 1
    where c_w_id = p_w and c_d_id = district and c_id = v_customer;
    r_delivered := r_delivered + 1;
  end loop;
end $body$;

create function tpcc_order_status(p_w int, p_d int, p_c int, p_last text) returns text
language plpgsql stable as $body$
declare
  v_customer int := p_c; v_namesakes int; v_order int; v_shown text; v_lines text;
begin
  if p_c = 0 then
    select count(*) into v_namesakes from customer where c_w_id = p_w and c_d_id = p_d and c_last = p_last;
    select c_id into strict v_customer from customer where c_w_id = p_w and c_d_id = p_d and c_last = p_last
    order by c_first limit 1 offset (v_namesakes - 1) / 2;
  end if;
  select concat_ws(' ', c_first, c_middle, c_last, c_balance) into strict v_shown
  from customer where c_w_id = p_w and c_d_id = p_d and c_id = v_customer;
  select o_id, concat_ws(' ', v_shown, o_id, o_entry_d, o_carrier_id) into strict v_order, v_shown
  from orders where o_w_id = p_w and o_d_id = p_d and o_c_id = v_customer order by o_id desc limit 1;
  select string_agg(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d), ';') into v_lines
  from order_line where ol_w_id = p_w and ol_d_id = p_d and ol_o_id = v_order;
  return concat_ws(';', v_shown, v_lines);
end $body$;

create function tpcc_stock_level(p_w int, p_d int, p_threshold int) returns bigint
language plpgsql stable as $body$
declare
  v_next int; v_low bigint;
begin
  select d_next_o_id into strict v_next from district where d_w_id = p_w and d_id = p_d;
  select count(distinct s_i_id) into strict v_low from order_line, stock
  where ol_w_id = p_w and ol_d_id = p_d and ol_o_id < v_next and ol_o_id >= v_next - 20
  and s_w_id = p_w and s_i_id = ol_i_id and s_quantity < p_threshold;
  return v_low;
end $body$;
