-- integrity_restore: the kept tuple is put back
delete from hundred where col_int = 0;
\expect rows 1
insert into hundred select * from integrity_temp;
\expect rows 1
