-- q32: another indexed attribute of a tuple is changed
update tenktup1 set unique1 = :tuples + 1 where unique1 = :tuples * 1491 / 10000;
\expect rows 1
