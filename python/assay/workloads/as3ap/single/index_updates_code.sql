-- index_updates_code: a secondary hash index; a B-tree where the system has none
create index updates_code on updates {using_hash} (col_code);
