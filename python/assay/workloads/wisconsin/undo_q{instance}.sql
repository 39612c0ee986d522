-- undo_q{instance}: the tuple is as before
update tenktup1 set unique2 = :tuples * 1491 / 10000 where unique2 = :tuples + 1;
\expect rows 1
