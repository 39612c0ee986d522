-- checkmod_100_seq: the hundred tuples differ from what was kept, since the aborted change was undone too; 0 would mean that it was kept
select count(*) from updates, sel100seq
where updates.col_key = sel100seq.col_key and not updates.col_double = sel100seq.col_double;
\expect value 100
