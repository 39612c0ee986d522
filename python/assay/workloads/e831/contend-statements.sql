-- contend-statements: the same with each statement by itself, on names that all clients share
\set at 1000000000 + 1000000 * :client_id + :transaction_number
\set record :transaction_number % :records
\set name format('X:%04d', :record)
\set val (:record + :client_id) % 4096
update "data" set exp = :at where name = :name and exp = 2000000000;
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, :at, 2000000000, :val, 0, 4095);
