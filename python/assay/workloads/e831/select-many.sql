-- select-many: the first thousand channels by one statement
\set many least(:updates, :records, 10000)
\set last format('X:%04d', :many - 1)
select name, "start", exp, val, lo, hi from "data" where name >= 'X:0000' and name <= :last {scan};
\expect rows :many
