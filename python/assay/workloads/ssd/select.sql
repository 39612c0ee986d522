-- select: three rows of one table, each found by another key
--
-- Row n has the id n / 25 and the seq n % 25; what else is asked for is made as the table's values are.
\set table random(0, :tables - 1)
\set range greatest(25, int(:rows * :range_percent / 100) / 25 * 25)
\set n1 random(0, :range - 1)
\set id1 format('u%07d', :n1 / 25)
\set seq1 :n1 % 25
\set n2 random(0, :range - 1)
\set id2 format('u%07d', :n2 / 25)
\set col3 substr('qwertyuiopasdfghjklzxcvbnm', (hash(:n2, 3) & 65535) % 10 + 1, \
    8 + (hash(:n2, 33) & 65535) % 9)
\set col4 substr('qwertyuiopasdfghjklzxcvbnm', (hash(:n2, 4) & 65535) % 21 + 1, \
    2 + (hash(:n2, 44) & 65535) % 4)
\set col5 concat(substr('thequickbrownfoxjumpsoverthelazydogwhilewaltzbadnymphforquickjigsvex', \
    (hash(:n2, 5) & 65535) % 20 + 1, 10 + (hash(:n2, 55) & 65535) % 37), :n2 % 25)
\set n3 random(0, :range - 1)
\set id3 format('u%07d', :n3 / 25)
-- The instant that stands in row n3: it and those before it are found, of the 25 of its id.
\set col9 timestamp(1217431544 + (hash(:n3, 9) & 1073741823) % 63072000)
begin;
select * from :{table} where id = :id1 and seq = :seq1;
\expect rows 1
select * from :{table} where id = :id2 and col3 = :col3 and col4 = :col4 and col5 = :col5;
\expect rows 1
select * from :{table} where id = :id3 and col9 <= :col9 order by col9 desc limit 10;
commit;
