-- contend: the next update of this client at full speed, at a time that no other update has
\set at 1000000000 + 1000000 * :client_id + :transaction_number
\set record :transaction_number % :records
\if :sets = 'disjoint'
\set record (:client_id * :updates + :transaction_number) % :records
\endif
\set name format('X:%04d', :record)
\set val (:record + :client_id) % 4096
\if :sets = 'transactions'
\begin {strictest_level}
\endif
update "data" set exp = :at where name = :name and exp = 2000000000;
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, :at, 2000000000, :val, 0, 4095);
\if :sets = 'transactions'
\commit
\endif
