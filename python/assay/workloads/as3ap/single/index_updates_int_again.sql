-- index_updates_int_again: the B-tree of updates.int is made again
create index updates_int on updates (col_int);
