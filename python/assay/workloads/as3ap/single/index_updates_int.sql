-- index_updates_int: a secondary B-tree
create index updates_int on updates (col_int);
