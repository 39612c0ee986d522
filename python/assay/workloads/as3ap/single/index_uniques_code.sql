-- index_uniques_code: a secondary hash index; a B-tree where the system has none
create index uniques_code on uniques {using_hash} (col_code);
