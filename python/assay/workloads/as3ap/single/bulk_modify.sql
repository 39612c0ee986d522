-- bulk_modify: the keys of a thousand tuples are changed
update updates set col_key = col_key - 100000 where col_key between 5000 and 5999;
\expect rows 1000
