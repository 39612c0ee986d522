-- insert: one new row into the client's own table
--
-- The id is a new one and lies between two old ones: what stands behind the dots nobody else writes.
\set table :client_id % :tables
\set id format('u%07d.%d.%d', random(0, :rows / 25), :client_id, :transaction_number)
\set col3 text(8, 16)
\set col4 text(2, 5)
\set col5 text(10, 50)
\set col7 text(20, 120)
\set begins random(1217431544, 1280503544)
\set col9 timestamp(:begins)
\set col11 timestamp(:begins + random(0, 86400))
\set col12 format('%d.%d.%d.%d', random(1, 223), random(0, 255), random(0, 255), random(1, 254))
\set col13 pick('Y', 'N')
\set col14 pick('Y', 'N')
\if random(0, 1) = 0
\set col6 null
\else
\set col6 text(50, 300)
\endif
\if random(0, 1) = 0
\set col8 null
\else
\set col8 text(10, 60)
\endif
insert into :{table} (id, seq, col3, col4, col5, col6, col7, col8, col9, col11, col12, col13, col14)
values (:id, 0, :col3, :col4, :col5, :col6, :col7, :col8, :col9, :col11, :col12, :col13, :col14);
\expect rows 1
