-- Q14: the share of promoted parts in a month's revenue
\if :substitution = 'drawn'
\set month random(0, 59)
\else
\set month 32
\endif
\set from date(concat(1993 + (:month) / 12, '-', numeral((:month) % 12 + 1, 2, '0123456789'), '-01'))
\set until date(concat(1993 + (:month + 1) / 12, '-', numeral((:month + 1) % 12 + 1, 2, '0123456789'), '-01'))
select round(100.00 * {dividend(sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end))}
  / sum(l_extendedprice * (1 - l_discount)), 6) as promo_revenue
from lineitem, part
where l_partkey = p_partkey and l_shipdate >= :from and l_shipdate < :until;
