-- Step 19: the number of open files is not known, and not 0, where they could not be counted: without a data
-- directory on this machine, or where another user's may not be seen.

ALTER TABLE samples RENAME COLUMN open_files TO open_files_of_step_18;
ALTER TABLE samples ADD COLUMN open_files INTEGER;             -- inside the data directory, summed; NULL: not counted

UPDATE samples SET open_files = open_files_of_step_18
 WHERE files IS NOT NULL OR open_files_of_step_18 <> 0;

ALTER TABLE samples DROP COLUMN open_files_of_step_18;
