-- PostgreSQL has hash indexes
-- index_updates_code_again: the hash index of updates is made again
create index updates_code on updates using hash (col_code);
