\set id random(1, :rows)
select c from sbtest1 where id = :id;
