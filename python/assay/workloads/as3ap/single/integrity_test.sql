-- integrity_test: a foreign key that no tuple of updates has: must be refused
{check_foreign_keys(on)}
update hundred set col_signed = -500000000 where col_int = 0;
\expect error constraint
{check_foreign_keys(off)}
