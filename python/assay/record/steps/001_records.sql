-- Step 1: tables that hold what the stages hand over, and views that lay it out as rows and columns.
--
-- A document is kept whole, as JSON, so nothing is lost when it grows a field; the views name the fields
-- a person asks for. Comments inside a CREATE statement are kept by SQLite: `.schema` shows them.

CREATE TABLE experiments (
  -- One row per invocation of `assay run`, written before anything is started.
  id                   INTEGER PRIMARY KEY,  -- "experiment 3"
  title                TEXT NOT NULL,
  reproduces           TEXT NOT NULL,        -- the published table this repeats; '' where none
  workload             TEXT NOT NULL,        -- its name, or its folder
  workload_fingerprint TEXT NOT NULL,        -- digest of the workload's folder
  seed                 TEXT NOT NULL,        -- all random streams derive from it
  begun_unix_ns        INTEGER NOT NULL,
  ended_unix_ns        INTEGER,              -- NULL: under way, or its process ended unasked
  experiment           TEXT NOT NULL,        -- JSON: what was asked
  workload_facts       TEXT NOT NULL,        -- JSON: title, report tables, published values
  machine              TEXT NOT NULL,        -- JSON: processor, memory, kernel, operating system
  build                TEXT NOT NULL,        -- JSON: versions of Assay and of its engine
  process_id           INTEGER NOT NULL,     -- with the next two: is its process still alive?
  process_started      INTEGER NOT NULL,     -- clock ticks since boot
  boot_id              TEXT NOT NULL         -- the kernel's random name of the boot
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
  protocol         TEXT NOT NULL,            -- simple or prepared
  parameters       TEXT NOT NULL,            -- JSON: the workload's parameters
  repetition       INTEGER NOT NULL,         -- 1-based
  seed             TEXT NOT NULL,
  cell             TEXT NOT NULL,            -- JSON: all of the above that make the cell, in full
  cell_fingerprint TEXT NOT NULL,            -- equal cells have equal fingerprints
  state            TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'provisioning',
                     'loading', 'driving', 'checking', 'done', 'failed', 'interrupted')),
  reason           TEXT NOT NULL DEFAULT '', -- why it failed or was interrupted
  verdict          TEXT NOT NULL DEFAULT '', -- valid, indicative or invalid
  verdict_reason   TEXT NOT NULL DEFAULT '',
  begun_unix_ns    INTEGER,
  ended_unix_ns    INTEGER,
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

CREATE TABLE sites (
  -- What was brought up: version, address, effective settings, storage facts.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON; see the view settings
);

CREATE TABLE datasets (
  -- What it was filled with, and what that cost.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON; see the views loads and dataset_rows
);

CREATE TABLE drives (
  -- What the engine was told, without the site (in sites) and the scripts (in scripts).
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON: order, clients, variables, when to stop …
);

CREATE TABLE scripts (
  -- The exact text of each transaction type, in the dialect of the run's system.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,                    -- the transaction type
  path     TEXT NOT NULL,                    -- where the text is from
  text     TEXT NOT NULL,
  weight   INTEGER NOT NULL,                 -- in a mix
  PRIMARY KEY (run_id, position)
);

CREATE TABLE observations (
  -- What was measured, as the engine gave it: histograms, intervals, outcomes, errors, results.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON; see the views below
);

CREATE TABLE samples (
  -- The server's processes while the clients were at work.
  run_id         INTEGER NOT NULL REFERENCES runs (id),
  at_s           REAL NOT NULL,              -- since sampling began
  processes      INTEGER NOT NULL,
  threads        INTEGER NOT NULL,
  resident_bytes INTEGER NOT NULL,           -- summed; shared pages once where the kernel tells
  virtual_bytes  INTEGER NOT NULL,
  open_files     INTEGER NOT NULL,           -- inside the data directory, summed
  cpu_ns         INTEGER NOT NULL,           -- user and system, since each process began, summed
  read_bytes     INTEGER NOT NULL,
  written_bytes  INTEGER NOT NULL
);

CREATE INDEX samples_by_run ON samples (run_id);

CREATE TABLE checks (
  -- Were the answers right?
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON array; see the view check_results
);

CREATE TABLE warnings (
  -- Ways in which this run can mislead; `assay.report.warnings` holds cause and cure of each name.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  detail   TEXT NOT NULL,                    -- what it says of this run
  PRIMARY KEY (run_id, position)
);

CREATE VIEW settings AS
  -- Effective settings of each run's system, read back from it; `asked` where the run asked.
  SELECT run_id, effective.key AS name, effective.value AS effective,
         (SELECT asked.value FROM json_each(document, '$.settings_asked') AS asked
          WHERE asked.key = effective.key) AS asked
  FROM sites, json_each(document, '$.settings') AS effective;

CREATE VIEW loads AS
  -- What each run's system held, how large it was on disk, and what filling it took.
  SELECT run_id,
         json_extract(document, '$.source') AS source,             -- real, synthetic or files
         json_extract(document, '$.description') AS description,
         json_extract(document, '$.fingerprint') AS fingerprint,   -- of the input's content
         json_extract(document, '$.entries') AS entries,
         json_extract(document, '$.replicas') AS replicas,
         json_extract(document, '$.load_ns') AS load_ns,           -- rows, in one transaction
         json_extract(document, '$.index_ns') AS index_ns,
         json_extract(document, '$.analyze_ns') AS analyze_ns,
         json_extract(document, '$.size_on_disk_bytes') AS size_on_disk_bytes
  FROM datasets;

CREATE VIEW dataset_rows AS
  -- Rows per table, as the system counted them after the load.
  SELECT run_id, counted.key AS table_name, counted.value AS row_count
  FROM datasets, json_each(document, '$.rows') AS counted;

CREATE VIEW outcomes AS
  -- Every transaction accounted for: scheduled = ok + aborted + failed + unknown + skipped.
  SELECT run_id,
         json_extract(document, '$.elapsed_ns') AS elapsed_ns,     -- first start to last end
         json_extract(document, '$.outcomes.scheduled') AS scheduled,
         json_extract(document, '$.outcomes.ok') AS ok,
         json_extract(document, '$.outcomes.aborted') AS aborted,  -- as the workload asked
         json_extract(document, '$.outcomes.failed') AS failed,
         json_extract(document, '$.outcomes.unknown') AS unknown,  -- nobody can know
         json_extract(document, '$.outcomes.skipped') AS skipped,
         json_extract(document, '$.ended_by') AS ended_by
  FROM observations;

CREATE VIEW response_times AS
  -- Per transaction type and outcome; transaction_name NULL: per pass (all types once, in order).
  SELECT run_id, json_extract(one, '$.name') AS transaction_name,
         coalesce(json_extract(one, '$.outcome'), 'ok') AS outcome,
         json_extract(one, '$.count') AS count,
         json_extract(one, '$.response_time.min_ns') AS min_ns,
         json_extract(one, '$.response_time.mean_ns') AS mean_ns,
         json_extract(one, '$.response_time.p50_ns') AS p50_ns,
         json_extract(one, '$.response_time.p90_ns') AS p90_ns,
         json_extract(one, '$.response_time.p95_ns') AS p95_ns,
         json_extract(one, '$.response_time.p99_ns') AS p99_ns,
         json_extract(one, '$.response_time.p99_9_ns') AS p99_9_ns,
         json_extract(one, '$.response_time.max_ns') AS max_ns,
         json_extract(one, '$.response_time.overflow') AS overflow,    -- above one hour
         json_extract(one, '$.response_time.histogram') AS histogram   -- HDR V2, base64
  FROM (SELECT run_id, each.value AS one
        FROM observations, json_each(document, '$.transactions') AS each
        UNION ALL
        SELECT run_id, json_extract(document, '$.passes') FROM observations)
  WHERE one IS NOT NULL;

CREATE VIEW intervals AS
  -- One row per second of a run.
  SELECT run_id, json_extract(one.value, '$.second') AS second,
         json_extract(one.value, '$.ok') AS ok, json_extract(one.value, '$.failed') AS failed,
         json_extract(one.value, '$.p50_ns') AS p50_ns,
         json_extract(one.value, '$.p99_ns') AS p99_ns,
         json_extract(one.value, '$.max_ns') AS max_ns
  FROM observations, json_each(document, '$.intervals') AS one;

CREATE VIEW errors AS
  -- Each kind of error once: its count, its first message, when it came first.
  SELECT run_id, json_extract(one.value, '$.class') AS class,
         json_extract(one.value, '$.code') AS code,                -- the system's own
         json_extract(one.value, '$.message') AS message,
         json_extract(one.value, '$.count') AS count,
         json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.first_at_ns') AS first_at_ns
  FROM observations, json_each(document, '$.errors') AS one;

CREATE VIEW client_ends AS
  -- How and when each client ended.
  SELECT run_id, json_extract(one.value, '$.client') AS client,
         json_extract(one.value, '$.elapsed_ns') AS elapsed_ns,
         json_extract(one.value, '$.passes') AS passes,
         json_extract(one.value, '$.transactions') AS transactions,
         json_extract(one.value, '$.state') AS state
  FROM observations, json_each(document, '$.client_ends') AS one;

CREATE VIEW results AS
  -- What the statements answered: rows and a digest of them, and how many answers were unlike it.
  SELECT run_id, json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.statement') AS statement,
         json_extract(one.value, '$.rows') AS row_count,
         json_extract(one.value, '$.digest') AS digest,
         json_extract(one.value, '$.answers') AS answers,
         json_extract(one.value, '$.differing') AS differing
  FROM observations, json_each(document, '$.results') AS one;

CREATE VIEW check_results AS
  -- Expected and found; expected NULL: unknown for these data.
  SELECT run_id, json_extract(one.value, '$.id') AS id,
         json_extract(one.value, '$.title') AS title,
         json_extract(one.value, '$.expected') AS expected,
         json_extract(one.value, '$.found') AS found,
         json_extract(one.value, '$.ok') AS is_right               -- 1, 0 or NULL
  FROM checks, json_each(document) AS one;
