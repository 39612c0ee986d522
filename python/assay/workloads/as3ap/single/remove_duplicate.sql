-- remove_duplicate: nothing, as no duplicate was added
delete from updates where col_key = 6000 and col_int = 0;
\expect rows 0
