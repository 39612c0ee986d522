-- Step 14: what a run that has ended makes of the exit status, so that a continued experiment has the same one.

ALTER TABLE runs ADD COLUMN exit_status INTEGER  /* 0 done or refused, 1 measured and failed, 2 cannot be done as asked, 3 not measured because of the system or the machine; NULL: not kept */;
