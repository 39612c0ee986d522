-- select-one: the row of one channel that holds
\set record random(0, :records - 1)
\set name format('X:%04d', :record)
select "start", exp, val, lo, hi from "data" where name = :name and exp = 2000000000 {scan};
\expect rows 1
