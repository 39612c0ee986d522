-- index_updates_code_again: the hash index of updates is made again
create index updates_code on updates {using_hash} (col_code);
