-- own: what one set ended and began, whichever set came before it and whichever after
\set at 1000000000 + 1000 * :set
select name, val, lo, hi from "data" where "start" = :at order by name;
select name from "data" where exp = :at order by name;
