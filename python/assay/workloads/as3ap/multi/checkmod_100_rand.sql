-- checkmod_100_rand: the hundred tuples differ from what was kept, since the aborted change was undone too; 0 would mean that it was kept
select count(*) from updates, sel100rand
where updates.col_int = sel100rand.col_int and not updates.col_double = sel100rand.col_double;
\expect value 100
