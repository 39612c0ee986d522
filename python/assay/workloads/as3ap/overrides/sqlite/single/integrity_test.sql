-- SQLite looks at foreign keys where a session asks for it
-- integrity_test: a foreign key that no tuple of updates has: must be refused
pragma foreign_keys = on;
update hundred set col_signed = -500000000 where col_int = 0;
\expect error constraint
pragma foreign_keys = off;
