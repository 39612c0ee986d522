-- undo_q32: the tuple is as before
update tenktup1 set unique1 = :tuples * 1491 / 10000 where unique1 = :tuples + 1;
\expect rows 1
