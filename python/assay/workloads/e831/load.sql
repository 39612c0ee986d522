-- load: the next record of the table
\set name format('X:%04d', :transaction_number)
\set val :transaction_number % 4096
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, 800000000, 2000000000, :val, 0, 4095);
