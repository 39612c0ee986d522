-- RF1: new orders, with keys that the loaded ones leave free, in one transaction
\set pair :transaction_number / 2
\begin
\for number in 0..:refreshed - 1
\set ordinal :pair * :refreshed + :number
\set key (:ordinal / 8) * 32 + 8 + :ordinal % 8
\set day 8035 + random(0, 2405)
\set total 0.0
\set open 0
\set lines random(1, 7)
\for line in 1..:lines
\set part random(1, :parts)
\set supplier (:part + random(0, 3) * (:suppliers / 4 + (:part - 1) / :suppliers)) % :suppliers + 1
\set quantity random(1, 50)
\set cents :quantity * (90000 + :part / 10 % 20001 + 100 * (:part % 1000))
\set discount random(0, 10)
\set tax random(0, 8)
\set shipped :day + random(1, 121)
\set received :shipped + random(1, 30)
\set total :total + int(:cents * (100 + :tax) * (100 - :discount) / 10000.0) / 100.0
\set open :open + case when :shipped > date('1995-06-17') then 1 else 0 end
\set price decimal(:cents / 100.0, 2)
\set discounted decimal(:discount / 100.0, 2)
\set taxed decimal(:tax / 100.0, 2)
\set flag case when :received > date('1995-06-17') then 'N' else pick('R', 'A') end
\set status case when :shipped > date('1995-06-17') then 'O' else 'F' end
\set ship_day date(:shipped)
\set commit_day date(:day + random(30, 90))
\set receipt_day date(:received)
\set instruction pick('DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN')
\set mode pick('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB')
\set remark lower(text(10, 43))
insert into lineitem (l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
  l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment)
values (:key, :part, :supplier, :line, :quantity, :price, :discounted, :taxed, :flag,
  :status, :ship_day, :commit_day, :receipt_day, :instruction, :mode, :remark);
\endfor
\set customer 3 * random(0, :customers / 3 - 1) + random(1, 2)
\set order_status case when :open = 0 then 'F' when :open = :lines then 'O' else 'P' end
\set order_total decimal(:total, 2)
\set order_day date(:day)
\set priority pick('1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW')
\set clerk concat('Clerk#', numeral(random(1, :clerks), 9, '0123456789'))
\set remark lower(text(19, 78))
insert into orders (o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment)
values (:key, :customer, :order_status, :order_total, :order_day, :priority, :clerk, 0, :remark);
\endfor
\commit
