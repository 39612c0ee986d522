-- Q12: whether cheap shipping delays urgent orders
\if :substitution = 'drawn'
\set draw random(1, 1000000000)
\set mode list('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB') ->> permute(0, 7, :draw)
\set other list('REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB') ->> permute(1, 7, :draw)
\set year random(1993, 1997)
\else
\set mode 'MAIL'
\set other 'SHIP'
\set year 1994
\endif
\set from date(concat(:year, '-01-01'))
\set until date(concat(:year + 1, '-01-01'))
select l_shipmode,
  sum(case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end) as high_line_count,
  sum(case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end) as low_line_count
from orders, lineitem
where o_orderkey = l_orderkey and l_shipmode in (:mode, :other) and l_commitdate < l_receiptdate
  and l_shipdate < l_commitdate and l_receiptdate >= :from and l_receiptdate < :until
group by l_shipmode
order by l_shipmode;
