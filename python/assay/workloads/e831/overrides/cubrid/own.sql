-- CUBRID reserves the word data: here in quotes
-- own: what one set ended and began, whichever set came before it and whichever after
\set at 1000000000 + 1000 * :set
select name, 1 as began, val, lo, hi from "data" where start = :at
union all
select name, 0, 0, 0, 0 from "data" where exp = :at
order by 1, 2;
