-- index_tenpct_signed: a secondary B-tree
create index tenpct_signed on tenpct (col_signed);
