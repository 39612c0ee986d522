-- index_hundred_code: a secondary hash index; a B-tree where the system has none
create index hundred_code on hundred {using_hash} (col_code);
