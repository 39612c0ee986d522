-- Step 21: data that Assay did not load are counted before and after each run.

CREATE TABLE existing_tables (
  -- What the tables held that a run named on a server or file by URL.
  run_id           INTEGER NOT NULL REFERENCES runs (id),
  is_after         INTEGER NOT NULL,         -- 0: before the run, 1: after it
  position         INTEGER NOT NULL,
  name             TEXT NOT NULL,            -- as a script spells it; '': what is not known is of no single table
  rows             INTEGER,                  -- NULL: not known
  digest           TEXT NOT NULL,            -- of all values, in any order; '': not read
  is_only_added_to INTEGER NOT NULL,         -- 1: the run adds rows to it and does nothing else with it
  unknown          TEXT NOT NULL,            -- why it is not known what it holds; '': it is
  PRIMARY KEY (run_id, is_after, position)
);
