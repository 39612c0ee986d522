-- update: the row of a channel that holds ends now, and a new one begins
\set record :transaction_number % :records
\set name format('X:%04d', :record)
\set at 1000000000 + :transaction_number / :records
\set val (:record + 1) % 4096
update "data" set exp = :at where name = :name and exp = 2000000000;
{expect_changed(1)}
insert into "data" (name, "start", exp, val, lo, hi)
values (:name, :at, 2000000000, :val, 0, 4095);
{expect_changed(1)}
