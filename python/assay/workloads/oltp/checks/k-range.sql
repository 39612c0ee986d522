-- k-range: k is a number that was drawn, raised by at most one for each update
\for sbtest in 0..:tables - 1
\set most :table_size + :index_updates * (:ok_read_write + :unknown_read_write + :ok_write_only + :unknown_write_only)
select id, k from :{sbtest} where k < 1 or k > :most;
\endfor
