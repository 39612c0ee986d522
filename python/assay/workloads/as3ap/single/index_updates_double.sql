-- index_updates_double: a secondary B-tree
create index updates_double on updates (col_double);
