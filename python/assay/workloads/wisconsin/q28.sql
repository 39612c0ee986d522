-- q28: the key of a tuple is changed, without indexes
update tenktup1 set unique2 = :tuples + 1 where unique2 = :tuples * 1491 / 10000;
\expect rows 1
