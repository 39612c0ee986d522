-- q26: a tuple is added, without indexes
insert into tenktup1 values (:tuples + 1, :tuples + 1, 0, 2, 0, 10, 50, 8, 4, 1, :tuples + 1, 100, 101, 'MLKJIHG', 'GFEDCBA', 'OOOO');
\expect rows 1
