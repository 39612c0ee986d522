-- index_updates_decim: a secondary B-tree
create index updates_decim on updates (col_decim);
