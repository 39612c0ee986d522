-- set: the next record of this client's set of updates, at the time that is the set's own
--
-- A single client does all sets, one after another. Of many clients each does the set of its number, and
-- waits before its first record until its turn to start.
\set set :client_id + :transaction_number / :updates
\set record :transaction_number % :updates
\if :record = 0
\think :stagger_s * :client_id s
\endif
\if :sets = 'disjoint'
\set record (:record + :set * :updates) % :records
\else
\set record :record % :records
\endif
\set name format('X:%04d', :record)
\set at 1000000000 + 1000 * :set
\set val (:record + :set + 1) % 4096
\if :sets = 'transactions'
begin;
\endif
update "data" set exp = :at where name = :name and exp = 2000000000;
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, :at, 2000000000, :val, 0, 4095);
\if :sets = 'transactions'
commit;
\endif
\think :pause_s s
