-- index_tenpct_double: a secondary B-tree
create index tenpct_double on tenpct (col_double);
