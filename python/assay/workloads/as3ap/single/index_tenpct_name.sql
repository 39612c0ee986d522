-- index_tenpct_name: a secondary hash index; a B-tree where the system has none
create index tenpct_name on tenpct {using_hash} (col_name);
