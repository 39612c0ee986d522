-- Step 13: a storage that keeps an account of its own (a modelled disk) says what it did in each second.

CREATE TABLE storage_requests (
  -- The requests of one kind that the storage ended in a second of the measurement.
  run_id     INTEGER NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,               -- steps.position
  second     INTEGER NOT NULL,               -- since the measurement began, from 0
  operation  TEXT NOT NULL,                  -- read, write, flush; lost: any of them, missing in the account
  count      INTEGER NOT NULL,               -- failed ones included
  failed     INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  time_ns    INTEGER NOT NULL,               -- sum, from the arrival at the storage to its answer
  longest_ns INTEGER NOT NULL,
  late_ns    INTEGER NOT NULL,               -- sum, by which answers came later than they should have
  PRIMARY KEY (run_id, step, second, operation)
);
