-- Step 2: what the client of a machine can do at most, measured against a server that does nothing.

CREATE TABLE calibrations (
  -- One row per protocol and number of clients of each `assay calibrate`.
  id                      INTEGER PRIMARY KEY,
  begun_unix_ns           INTEGER NOT NULL,
  driver                  TEXT NOT NULL,     -- the engine's; a protocol has the name of its driver
  clients                 INTEGER NOT NULL,
  threads                 INTEGER NOT NULL,  -- of the engine, as they were
  statements              INTEGER NOT NULL,
  elapsed_ns              INTEGER NOT NULL,
  statements_per_s        REAL NOT NULL,     -- the ceiling: no run of these clients is faster
  client_ns_per_statement REAL NOT NULL,     -- user and system time of the client's process
  p50_ns                  INTEGER NOT NULL,  -- response time of a statement that takes no time
  p99_ns                  INTEGER NOT NULL,
  machine                 TEXT NOT NULL,     -- JSON, as in experiments
  build                   TEXT NOT NULL,     -- JSON, as in experiments
  observation             TEXT NOT NULL      -- JSON: what was measured, as the engine gave it
);

CREATE INDEX calibrations_by_driver ON calibrations (driver);
