-- index_updates_{instance}: a secondary B-tree
create index updates_{instance} on updates (col_{instance});
