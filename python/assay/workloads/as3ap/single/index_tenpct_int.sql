-- index_tenpct_int: a secondary B-tree
create index tenpct_int on tenpct (col_int);
