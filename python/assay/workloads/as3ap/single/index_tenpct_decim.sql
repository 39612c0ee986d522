-- index_tenpct_decim: a secondary B-tree
create index tenpct_decim on tenpct (col_decim);
