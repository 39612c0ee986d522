-- dump: the rows that one set of updates ended or began, in order
\set at 1000000000 + 1000 * :set
select name, "start", exp, val, lo, hi from "data"
where exp = :at or "start" = :at
order by name, "start", exp;
