-- Step 24: the indexes of data that Assay did not load are kept with their numbers of rows.

ALTER TABLE existing_tables ADD COLUMN
  indexes TEXT NOT NULL DEFAULT '';         -- in the system's words, without their names; 'none'; '': not known
