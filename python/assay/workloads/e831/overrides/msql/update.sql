-- mSQL does not say how many rows a statement changed, so none are expected
\set record :transaction_number % :records
\set name format('X:%04d', :record)
\set at 1000000000 + :transaction_number / :records
\set val (:record + 1) % 4096
update data set exp = :at where name = :name and exp = 2000000000;
insert into data (name, start, exp, val, lo, hi)
values (:name, :at, 2000000000, :val, 0, 4095);
