-- The tables of a record file. What the stages hand over is kept as documents (JSON), whole, so that nothing is lost
-- when one of them grows a field; the views in ../views show them as rows and columns. Comments inside a CREATE
-- statement are kept by SQLite: `.schema` shows them.

CREATE TABLE experiments (
  -- One row per invocation of `assay run`, written before anything is started.
  id                   INTEGER PRIMARY KEY,  -- "experiment 3"
  title                TEXT NOT NULL,
  reproduces           TEXT NOT NULL,        -- the published table this repeats; '' where none
  workload             TEXT NOT NULL,        -- its name, or its folder
  workload_fingerprint TEXT NOT NULL,        -- digest of the workload's folder
  seed                 TEXT NOT NULL,        -- all random streams derive from it
  begun_unix_ns        INTEGER NOT NULL,
  ended_unix_ns        INTEGER,              -- NULL: under way, or its process was killed
  experiment           TEXT NOT NULL,        -- JSON: what was asked
  workload_facts       TEXT NOT NULL,        -- JSON: title, report tables, published values
  machine              TEXT NOT NULL,        -- JSON: processor, memory, kernel, operating system
  build                TEXT NOT NULL,        -- JSON: versions of Assay and of its engine
  process_id           INTEGER NOT NULL,     -- with the next two: is its process still alive?
  process_started      INTEGER NOT NULL,     -- clock ticks since boot
  boot_id              TEXT NOT NULL,        -- the kernel's random name of the boot
  command              TEXT,                 -- JSON: the experiment file, and the options beside it; NULL: no file
  content              TEXT NOT NULL DEFAULT '{}'  -- JSON: digests and versions of what determines its runs
);

CREATE TABLE continuations (
  -- One row per process that went on with an experiment after another one had ended.
  experiment_id    INTEGER NOT NULL REFERENCES experiments (id),
  position         INTEGER NOT NULL,         -- 1-based
  begun_unix_ns    INTEGER NOT NULL,
  ended_process_id INTEGER NOT NULL,         -- of the process before
  last_unix_ns     INTEGER NOT NULL,         -- when that last entered a stage of a run
  run_position     INTEGER,                  -- the run that it was at, which began again; NULL: none
  run_state        TEXT,                     -- of that run
  changes          TEXT NOT NULL,            -- JSON: name → [before, now], of machine, build and content
  experiment       TEXT,                     -- JSON: what had been asked before; NULL: the same
  machine          TEXT NOT NULL,            -- JSON, as in experiments
  build            TEXT NOT NULL,            -- JSON, as in experiments
  content          TEXT NOT NULL,            -- JSON, as in experiments
  process_id       INTEGER NOT NULL,
  process_started  INTEGER NOT NULL,
  boot_id          TEXT NOT NULL,
  ended_unix_ns    INTEGER,                  -- when the process before ended between two runs; NULL: it was interrupted
  PRIMARY KEY (experiment_id, position)
);

CREATE TABLE runs (
  -- One row per planned run, written with its experiment.
  id               INTEGER PRIMARY KEY,      -- "run 17"
  experiment_id    INTEGER NOT NULL REFERENCES experiments (id),
  position         INTEGER NOT NULL,         -- 0-based place in the order of execution
  test             TEXT NOT NULL,            -- the workload's test
  system           TEXT NOT NULL,            -- name in the registry
  system_label     TEXT NOT NULL,            -- name, options and settings, as reports show it
  storage          TEXT NOT NULL,            -- name in the experiment
  clients          INTEGER NOT NULL,
  threads          INTEGER NOT NULL,         -- of the engine; 0: one per processor
  protocol         TEXT NOT NULL,            -- simple, extended or prepared
  parameters       TEXT NOT NULL,            -- JSON: the workload's parameters
  repetition       INTEGER NOT NULL,         -- 1-based
  seed             TEXT NOT NULL,
  cell             TEXT NOT NULL,            -- JSON: all of the above that make the cell, in full
  cell_fingerprint TEXT NOT NULL,            -- equal cells have equal fingerprints: of the fields that are not their defaults
  state            TEXT NOT NULL DEFAULT 'planned',  -- planned provisioning loading driving checking done
                                             -- failed exceeded interrupted refused
  reason           TEXT NOT NULL DEFAULT '', -- why it failed, was ended early, interrupted or refused
  verdict          TEXT NOT NULL DEFAULT '', -- valid, unreliable or invalid
  verdict_reason   TEXT NOT NULL DEFAULT '',
  begun_unix_ns    INTEGER,
  ended_unix_ns    INTEGER,
  content_fingerprint TEXT NOT NULL DEFAULT '',  -- cell, seed, texts, input and versions; '': not begun
  continuation     INTEGER NOT NULL DEFAULT 0,   -- continuations.position of its process; 0: the first one
  superseded       INTEGER NOT NULL DEFAULT 0,   -- 1: its content has changed; no part of the results
  exit_status      INTEGER,                  -- 0 done, exceeded or refused, 1 measured and failed, 2 cannot be done as asked,
                                             -- 3 not measured because of the system or the machine; NULL: not ended
  UNIQUE (experiment_id, position)
);

CREATE INDEX runs_by_cell ON runs (cell_fingerprint);

CREATE TABLE stages (
  -- When each run entered each state; rows are only ever added.
  run_id        INTEGER NOT NULL REFERENCES runs (id),
  state         TEXT NOT NULL,
  begun_unix_ns INTEGER NOT NULL
);

CREATE INDEX stages_by_run ON stages (run_id);

CREATE TABLE steps (
  -- What a run did, in order: load, drive, restart, compare …
  id            INTEGER PRIMARY KEY,
  run_id        INTEGER NOT NULL REFERENCES runs (id),
  position      INTEGER NOT NULL,            -- 0-based; the tables below name their step by it
  do            TEXT NOT NULL,               -- the kind of step
  name          TEXT NOT NULL DEFAULT '',
  state         TEXT NOT NULL,               -- running, done, failed, exceeded, interrupted, refused, skipped
  reason        TEXT NOT NULL DEFAULT '',
  begun_unix_ns INTEGER,
  ended_unix_ns INTEGER,
  UNIQUE (run_id, position)
);

CREATE TABLE cells (
  -- The verdict of each cell, written when the last of its repetitions has ended.
  experiment_id    INTEGER NOT NULL REFERENCES experiments (id),
  cell_fingerprint TEXT NOT NULL,            -- as in runs
  repetitions      INTEGER NOT NULL,         -- planned
  measured         INTEGER NOT NULL,         -- of them, runs that were measured to their end
  verdict          TEXT NOT NULL,            -- valid, unreliable or invalid; '' where nothing was measured
  verdict_reason   TEXT NOT NULL,
  warnings         TEXT NOT NULL,            -- JSON: array of {name, detail}, of all repetitions together
  judged_unix_ns   INTEGER NOT NULL,
  PRIMARY KEY (experiment_id, cell_fingerprint)
);

CREATE TABLE deployments (
  -- What was brought up: version, address, effective settings, storage facts.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON; see the view settings
);

CREATE TABLE datasets (
  -- What the system was filled with, and what that cost.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON; see the views loads and dataset_rows
  PRIMARY KEY (run_id, step)
);

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
  indexes          TEXT NOT NULL DEFAULT '', -- in the system's words, without their names; 'none'; '': not known
  PRIMARY KEY (run_id, is_after, position)
);

CREATE TABLE drives (
  -- The drive document of each step, without the deployment and the scripts, which have tables of their own.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON: order, clients, variables, when to stop …
  PRIMARY KEY (run_id, step)
);

CREATE TABLE scripts (
  -- The exact text of each transaction type, in the dialect of the run's system.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,                    -- the transaction type
  path     TEXT NOT NULL,                    -- where the text is from
  text     TEXT NOT NULL,
  weight   INTEGER NOT NULL,                 -- in a mix
  PRIMARY KEY (run_id, step, position)
);

CREATE TABLE observations (
  -- What was measured, as the engine gave it: histograms, intervals, outcomes, errors, results.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  agent    INTEGER NOT NULL DEFAULT 0,       -- 0: all clients of the step; 1, 2 …: those of one machine,
                                             -- where several drove it
  document TEXT NOT NULL,                    -- JSON; the views show it as rows and columns
  PRIMARY KEY (run_id, step, agent)
);

CREATE TABLE samples (
  -- The server's processes, the device under its data, and the machine, while the clients were at work. Of the
  -- device and the machine: since the machine was started; NULL: not measured.
  run_id                   INTEGER NOT NULL REFERENCES runs (id),
  step                     INTEGER NOT NULL DEFAULT 0,  -- steps.position
  at_s                     REAL NOT NULL,      -- since sampling began
  processes                INTEGER NOT NULL,
  threads                  INTEGER NOT NULL,
  resident_bytes           INTEGER NOT NULL,   -- summed; shared pages once where the kernel shows it
  virtual_bytes            INTEGER NOT NULL,
  open_files               INTEGER,            -- handles inside the data directory, summed; NULL: not counted
  files                    INTEGER,            -- different files that open_files counts handles of
  cpu_ns                   INTEGER NOT NULL,   -- user and system, since each process began, summed
  read_bytes               INTEGER,            -- by the server's processes, page cache left out
  device_read_bytes        INTEGER,            -- by the whole device, whichever program used it
  device_written_bytes     INTEGER,
  device_reads             INTEGER,            -- requests completed
  device_writes            INTEGER,
  device_empty_writes      INTEGER,            -- of them, requests for a flush without data; since sampling began
  device_flushes           INTEGER,            -- NULL also: the device has no cache to flush
  device_busy_ns           INTEGER,            -- with at least one request under way
  device_queue_ns          INTEGER,            -- of all requests under way, summed
  machine_user_ns          INTEGER,            -- of all processors, as the next four
  machine_system_ns        INTEGER,
  machine_idle_ns          INTEGER,
  machine_iowait_ns        INTEGER,            -- idle, with a thread waiting for a device
  machine_steal_ns         INTEGER,            -- taken by other virtual machines
  machine_load_1min        REAL,
  machine_load_5min        REAL,
  machine_load_15min       REAL,
  machine_cached_bytes     INTEGER,            -- files in the page cache
  machine_dirty_bytes      INTEGER,            -- of them, not yet written to their device
  machine_used_bytes       INTEGER,            -- that programs could not have
  machine_free_bytes       INTEGER,            -- that holds nothing, not even files
  machine_buffers_bytes    INTEGER,            -- blocks of devices in the page cache
  machine_shared_bytes     INTEGER,            -- shared by processes, and files in memory
  machine_swap_used_bytes  INTEGER,
  machine_context_switches INTEGER,
  machine_interrupts       INTEGER
);

CREATE INDEX samples_by_run ON samples (run_id);

CREATE TABLE open_files (
  -- The files of the data directory that the server had open most often while the clients were at work; at
  -- most 100 of each step.
  run_id  INTEGER NOT NULL REFERENCES runs (id),
  step    INTEGER NOT NULL,                  -- steps.position
  file    TEXT NOT NULL,                     -- its path inside the data directory
  handles INTEGER NOT NULL,                  -- of all processes, in the sample with the most
  PRIMARY KEY (run_id, step, file)
);

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

CREATE TABLE checks (
  -- Result checks of each step.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON array; see the view check_results
  PRIMARY KEY (run_id, step)
);

CREATE TABLE compared_answers (
  -- What each run answered of the questions that all systems of the experiment are asked alike.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON array
);

CREATE TABLE warnings (
  -- Ways in which this run can mislead; `assay.report.warnings` holds cause and fix of each name.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  detail   TEXT NOT NULL,                    -- what it says of this run
  PRIMARY KEY (run_id, position)
);

CREATE TABLE probes (
  -- One row per storage that was probed, with the run that was the first to use it.
  run_id        INTEGER NOT NULL REFERENCES runs (id),
  storage       TEXT NOT NULL,               -- name in the experiment, as in runs
  begun_unix_ns INTEGER NOT NULL,
  document      TEXT NOT NULL,               -- JSON; see the views storage_probes and random_reads
  PRIMARY KEY (run_id, storage)
);

CREATE TABLE calibrations (
  -- One row per protocol and number of clients of each `assay measure client`.
  id                      INTEGER PRIMARY KEY,
  begun_unix_ns           INTEGER NOT NULL,
  driver                  TEXT NOT NULL,     -- the engine's; a protocol has the name of its driver
  clients                 INTEGER NOT NULL,
  threads                 INTEGER NOT NULL,  -- of the engine, as they were
  statements              INTEGER NOT NULL,
  elapsed_ns              INTEGER NOT NULL,
  statements_per_s        REAL NOT NULL,     -- the ceiling: no run of these clients is faster
  client_ns_per_statement REAL NOT NULL,     -- user and system time of the client's process
  p50_ns                  INTEGER NOT NULL,  -- latency of a statement that takes no time
  p99_ns                  INTEGER NOT NULL,
  machine                 TEXT NOT NULL,     -- JSON, as in experiments
  build                   TEXT NOT NULL,     -- JSON, as in experiments
  observation             TEXT NOT NULL      -- JSON: what was measured, as the engine gave it
);

CREATE INDEX calibrations_by_driver ON calibrations (driver);
