-- index_tenpct_float: a secondary B-tree
create index tenpct_float on tenpct (col_float);
