-- integrity_temp: the tuple of the integrity test is kept
insert into integrity_temp select * from hundred where col_int = 0;
\expect rows 1
