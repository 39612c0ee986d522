-- bulk_append: the kept tuples are put back
insert into updates select * from saveupdates;
\expect rows 1000
