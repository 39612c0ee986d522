-- append: a record that the table does not have yet
\set record :records + :transaction_number
\set name format('X:%04d', :record)
\set val :record % 4096
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, 800000000, 2000000000, :val, 0, 4095);
