-- index_tenpct_{instance}: a secondary B-tree
create index tenpct_{instance} on tenpct (col_{instance});
