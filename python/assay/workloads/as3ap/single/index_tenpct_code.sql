-- index_tenpct_code: a secondary hash index; a B-tree where the system has none
create index tenpct_code on tenpct {using_hash} (col_code);
