-- The statements of sysbench's oltp_read_write, in its order, with its numbers of each.
begin;
\for point in 1..10
\set id random(1, :rows)
select c from sbtest1 where id = :id;
\endfor
\set id random(1, :rows)
\set last :id + 99
select c from sbtest1 where id between :id and :last;
\set id random(1, :rows)
\set last :id + 99
select sum(k) from sbtest1 where id between :id and :last;
\set id random(1, :rows)
\set last :id + 99
select c from sbtest1 where id between :id and :last order by c;
\set id random(1, :rows)
\set last :id + 99
select distinct c from sbtest1 where id between :id and :last order by c;
\set id random(1, :rows)
update sbtest1 set k = k + 1 where id = :id;
\set id random(1, :rows)
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11))
update sbtest1 set c = :c where id = :id;
\set id random(1, :rows)
\set k random(1, :rows)
\set c concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11))
\set pad concat(digits(11), '-', digits(11), '-', digits(11), '-', digits(11), '-', digits(11))
delete from sbtest1 where id = :id;
insert into sbtest1 (id, k, c, pad) values (:id, :k, :c, :pad);
commit;
