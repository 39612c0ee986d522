-- RF2: as many loaded orders are deleted, with their lines, in one transaction
\begin
\for number in 1..:refreshed
\set ordinal :pair * :refreshed + :number
\set key (:ordinal / 8) * 32 + :ordinal % 8
delete from lineitem where l_orderkey = :key;
delete from orders where o_orderkey = :key;
\expect rows 1
\endfor
\commit
