-- Step 15: an experiment may go on after a part of its runs was executed as asked (--only), which is no
-- interruption.

ALTER TABLE continuations ADD COLUMN ended_unix_ns INTEGER  /* when the process before ended between two runs, unless it was killed; NULL: it was interrupted */;
