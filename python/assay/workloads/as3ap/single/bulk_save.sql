-- bulk_save: a thousand tuples are kept
insert into saveupdates select * from updates where col_key between 5000 and 5999;
\expect rows 1000
