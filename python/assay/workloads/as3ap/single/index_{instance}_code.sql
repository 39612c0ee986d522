-- index_{instance}_code: a secondary hash index; a B-tree where the system has none
create index {instance}_code on {instance} {using_hash} (col_code);
