-- Step 7: a run is steps in order, and a step may be driven by several client machines (agents). What was one
-- row per run is one row per step (and agent): runs of before have one step. A run's state is any word, a
-- cell's verdict is kept, fingerprints of cells are of version 2, and response time is called latency. Every
-- view and column of before is still there.

DROP VIEW settings;
DROP VIEW loads;
DROP VIEW dataset_rows;
DROP VIEW outcomes;
DROP VIEW response_times;
DROP VIEW intervals;
DROP VIEW errors;
DROP VIEW client_ends;
DROP VIEW results;
DROP VIEW check_results;
DROP VIEW driving;
DROP VIEW transaction_times;
DROP VIEW statement_times;
DROP VIEW outages;
DROP VIEW costs;
DROP VIEW server_counters;
DROP VIEW service;
DROP VIEW standstills;

CREATE TABLE runs_of_step_7 (
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
  cell_fingerprint TEXT NOT NULL,            -- version 2: of the cell's fields that are not their defaults
  state            TEXT NOT NULL DEFAULT 'planned',  -- planned provisioning loading driving checking done
                                             -- failed interrupted refused
  reason           TEXT NOT NULL DEFAULT '', -- why it failed, was interrupted or refused
  verdict          TEXT NOT NULL DEFAULT '', -- valid, indicative or invalid
  verdict_reason   TEXT NOT NULL DEFAULT '',
  begun_unix_ns    INTEGER,
  ended_unix_ns    INTEGER,
  UNIQUE (experiment_id, position)
);

INSERT INTO runs_of_step_7
  SELECT id, experiment_id, position, test, system, system_label, storage, clients, threads, protocol,
         parameters, repetition, seed, cell, coalesce(cell_fingerprint_2(cell), cell_fingerprint), state,
         reason,
         -- An earlier Assay judged a run before its state was known.
         CASE WHEN state IN ('failed', 'interrupted') THEN 'invalid' ELSE verdict END,
         CASE WHEN state IN ('failed', 'interrupted') THEN coalesce(nullif(reason, ''), state)
              ELSE verdict_reason END,
         begun_unix_ns, ended_unix_ns
  FROM runs;

DROP TABLE runs;

ALTER TABLE runs_of_step_7 RENAME TO runs;

CREATE INDEX runs_by_cell ON runs (cell_fingerprint);

CREATE TABLE steps (
  -- What a run did, in order: load, drive, restart, compare … A run of before step 7 has one step, drive.
  id            INTEGER PRIMARY KEY,
  run_id        INTEGER NOT NULL REFERENCES runs (id),
  position      INTEGER NOT NULL,            -- 0-based; the tables below name their step by it
  do            TEXT NOT NULL,               -- the kind of step
  name          TEXT NOT NULL DEFAULT '',
  state         TEXT NOT NULL,               -- running, done, failed, interrupted, refused, skipped
  reason        TEXT NOT NULL DEFAULT '',
  begun_unix_ns INTEGER,
  ended_unix_ns INTEGER,
  UNIQUE (run_id, position)
);

INSERT INTO steps (run_id, position, do, state, reason, begun_unix_ns, ended_unix_ns)
  SELECT id, 0, 'drive', CASE WHEN state IN ('done', 'failed', 'interrupted') THEN state ELSE 'running' END,
         reason,
         coalesce((SELECT min(stages.begun_unix_ns) FROM stages
                   WHERE stages.run_id = runs.id AND stages.state IN ('loading', 'driving')), begun_unix_ns),
         ended_unix_ns
  FROM runs WHERE begun_unix_ns IS NOT NULL;

CREATE TABLE datasets_of_step_7 (
  -- What the system was filled with, and what that cost.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON; see the views loads and dataset_rows
  PRIMARY KEY (run_id, step)
);

INSERT INTO datasets_of_step_7 SELECT run_id, 0, document FROM datasets;

DROP TABLE datasets;

ALTER TABLE datasets_of_step_7 RENAME TO datasets;

CREATE TABLE drives_of_step_7 (
  -- The drive document of each step, without the site (in sites) and the scripts (in scripts).
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON: order, clients, variables, when to stop …
  PRIMARY KEY (run_id, step)
);

INSERT INTO drives_of_step_7 SELECT run_id, 0, document FROM drives;

DROP TABLE drives;

ALTER TABLE drives_of_step_7 RENAME TO drives;

CREATE TABLE scripts_of_step_7 (
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

INSERT INTO scripts_of_step_7 SELECT run_id, 0, position, name, path, text, weight FROM scripts;

DROP TABLE scripts;

ALTER TABLE scripts_of_step_7 RENAME TO scripts;

CREATE TABLE observations_of_step_7 (
  -- What was measured, as the engine gave it: histograms, intervals, outcomes, errors, results.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  agent    INTEGER NOT NULL DEFAULT 0,       -- 0: all clients of the step; 1, 2 …: those of one machine,
                                             -- where several drove it
  document TEXT NOT NULL,                    -- JSON; see the views below
  PRIMARY KEY (run_id, step, agent)
);

INSERT INTO observations_of_step_7 SELECT run_id, 0, 0, document FROM observations;

DROP TABLE observations;

ALTER TABLE observations_of_step_7 RENAME TO observations;

CREATE TABLE checks_of_step_7 (
  -- Result checks of each step.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON array; see the view check_results
  PRIMARY KEY (run_id, step)
);

INSERT INTO checks_of_step_7 SELECT run_id, 0, document FROM checks;

DROP TABLE checks;

ALTER TABLE checks_of_step_7 RENAME TO checks;

ALTER TABLE samples ADD COLUMN step INTEGER NOT NULL DEFAULT 0;

CREATE TABLE cells (
  -- The verdict of each cell, written when the last of its repetitions has ended.
  experiment_id    INTEGER NOT NULL REFERENCES experiments (id),
  cell_fingerprint TEXT NOT NULL,            -- as in runs
  repetitions      INTEGER NOT NULL,         -- planned
  measured         INTEGER NOT NULL,         -- of them, runs that were measured to their end
  verdict          TEXT NOT NULL,            -- valid, indicative or invalid; '' where nothing was measured
  verdict_reason   TEXT NOT NULL,
  warnings         TEXT NOT NULL,            -- JSON: array of {name, detail}, of all repetitions together
  judged_unix_ns   INTEGER NOT NULL,
  PRIMARY KEY (experiment_id, cell_fingerprint)
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
         json_extract(document, '$.size_on_disk_bytes') AS size_on_disk_bytes,
         step
  FROM datasets;

CREATE VIEW dataset_rows AS
  -- Rows per table, as the system counted them after the load.
  SELECT run_id, counted.key AS table_name, counted.value AS row_count, step
  FROM datasets, json_each(document, '$.rows') AS counted;

CREATE VIEW driving AS
  -- How the clients of each run were driven; NULL: not asked for.
  SELECT id AS run_id,
         coalesce(json_extract(cell, '$.driving.arrival'), 'closed') AS arrival,
         json_extract(cell, '$.driving.offered_rate_per_s') AS offered_rate_per_s,
         json_extract(cell, '$.driving.ramp_up_s') AS ramp_up_s,
         json_extract(cell, '$.driving.warm_up_s') AS warm_up_s,
         json_extract(cell, '$.driving.duration_s') AS duration_s,
         json_extract(cell, '$.driving.transactions') AS transactions,  -- of each client
         json_extract(cell, '$.driving.passes') AS passes,              -- of each client
         json_extract(cell, '$.driving.think_time') AS think_time,
         json_extract(cell, '$.driving.keying_time') AS keying_time,
         json_extract(cell, '$.driving.latency_limit_s') AS latency_limit_s,
         json_extract(cell, '$.driving.retries') AS retries,            -- of one transaction, at most
         nullif(json_extract(cell, '$.driving.isolation'), '') AS isolation,
         json_extract(cell, '$.driving.connection') AS connection
  FROM runs;

CREATE VIEW outcomes AS
  -- Transaction outcomes: scheduled = ok + aborted + failed + unknown + skipped, and
  -- attempts = scheduled - skipped + retries.
  SELECT run_id,
         json_extract(document, '$.elapsed_ns') AS elapsed_ns,     -- measurement, to the last end
         json_extract(document, '$.outcomes.scheduled') AS scheduled,
         json_extract(document, '$.outcomes.ok') AS ok,
         json_extract(document, '$.outcomes.aborted') AS aborted,  -- as the workload asked
         json_extract(document, '$.outcomes.failed') AS failed,
         json_extract(document, '$.outcomes.unknown') AS unknown,  -- may have committed, or not
         json_extract(document, '$.outcomes.skipped') AS skipped,  -- too late to begin
         json_extract(document, '$.ended_by') AS ended_by,
         json_extract(document, '$.outcomes.late') AS late,        -- ended beyond the latency limit
         json_extract(document, '$.outcomes.retries') AS retries,
         json_extract(document, '$.outcomes.attempts') AS attempts,
         json_extract(document, '$.reconnects') AS reconnects,
         json_extract(document, '$.outcomes.ok') * 1e9
           / nullif(json_extract(document, '$.elapsed_ns'), 0) AS throughput_per_s,
         json_extract(document, '$.drained_ns') AS drained_ns,     -- of elapsed_ns: waiting for the last ends
         json_extract(document, '$.statements') AS statements,
         step
  FROM observations WHERE agent = 0;

CREATE VIEW groups AS
  -- Transaction outcomes of each group of clients; a run without groups has one, named ''.
  SELECT run_id, step,
         json_extract(one.value, '$.name') AS group_name,
         json_extract(one.value, '$.clients') AS clients,
         json_extract(one.value, '$.outcomes.scheduled') AS scheduled,
         json_extract(one.value, '$.outcomes.ok') AS ok,
         json_extract(one.value, '$.outcomes.aborted') AS aborted,
         json_extract(one.value, '$.outcomes.failed') AS failed,
         json_extract(one.value, '$.outcomes.unknown') AS unknown,
         json_extract(one.value, '$.outcomes.skipped') AS skipped,
         json_extract(one.value, '$.outcomes.late') AS late,
         json_extract(one.value, '$.outcomes.retries') AS retries,
         json_extract(one.value, '$.outcomes.ok') * 1e9
           / nullif(json_extract(document, '$.elapsed_ns'), 0) AS throughput_per_s
  FROM observations, json_each(document, '$.groups') AS one WHERE agent = 0
  UNION ALL
  SELECT run_id, step, '',
         json_extract(document, '$.clients'),
         json_extract(document, '$.outcomes.scheduled'),
         json_extract(document, '$.outcomes.ok'),
         json_extract(document, '$.outcomes.aborted'),
         json_extract(document, '$.outcomes.failed'),
         json_extract(document, '$.outcomes.unknown'),
         json_extract(document, '$.outcomes.skipped'),
         json_extract(document, '$.outcomes.late'),
         json_extract(document, '$.outcomes.retries'),
         json_extract(document, '$.outcomes.ok') * 1e9 / nullif(json_extract(document, '$.elapsed_ns'), 0)
  FROM observations
  WHERE agent = 0 AND json_type(document, '$.groups') IS NULL AND json_type(document, '$.outcomes') IS NOT NULL;

CREATE VIEW times AS
  -- Per transaction type and outcome. time is latency (from the intended start in an open loop, from the
  -- actual one in a closed loop), service_time (from the actual start) or schedule_lag (between the two); a
  -- closed loop has latency alone. transaction_name NULL: per pass (all types once, in order). group_name
  -- NULL: all groups of clients together.
  WITH parts AS (
    SELECT run_id, step, NULL AS group_name, each.value AS one
    FROM observations, json_each(document, '$.transactions') AS each WHERE agent = 0
    UNION ALL
    SELECT run_id, step, NULL, json_extract(document, '$.passes') FROM observations WHERE agent = 0
    UNION ALL
    SELECT run_id, step, json_extract(own.value, '$.name'), each.value
    FROM observations, json_each(document, '$.groups') AS own, json_each(own.value, '$.transactions') AS each
    WHERE agent = 0 AND json_array_length(document, '$.groups') > 1
  )
  SELECT run_id, step, group_name, json_extract(one, '$.name') AS transaction_name,
         -- Latency was called response time before step 7.
         CASE measured.key WHEN 'response_time' THEN 'latency' ELSE measured.key END AS time,
         coalesce(json_extract(one, '$.outcome'), 'ok') AS outcome,
         json_extract(one, '$.count') AS count,
         json_extract(measured.value, '$.min_ns') AS min_ns,
         json_extract(measured.value, '$.mean_ns') AS mean_ns,
         json_extract(measured.value, '$.p50_ns') AS p50_ns,
         json_extract(measured.value, '$.p90_ns') AS p90_ns,
         json_extract(measured.value, '$.p95_ns') AS p95_ns,
         json_extract(measured.value, '$.p99_ns') AS p99_ns,
         json_extract(measured.value, '$.p99_9_ns') AS p99_9_ns,
         json_extract(measured.value, '$.max_ns') AS max_ns,
         json_extract(measured.value, '$.overflow') AS overflow,    -- above one hour
         json_extract(measured.value, '$.histogram') AS histogram   -- HDR V2, base64
  FROM parts, json_each(one) AS measured
  WHERE one IS NOT NULL AND measured.type = 'object'
    AND measured.key IN ('latency', 'response_time', 'service_time', 'schedule_lag');

CREATE VIEW latencies AS
  -- Of times, the latency.
  SELECT run_id, step, group_name, transaction_name, outcome, count, min_ns, mean_ns, p50_ns, p90_ns, p95_ns,
         p99_ns, p99_9_ns, max_ns, overflow, histogram
  FROM times WHERE time = 'latency';

CREATE VIEW response_times AS
  -- Of before step 7: latencies by their earlier name.
  SELECT run_id, transaction_name, outcome, count, min_ns, mean_ns, p50_ns, p90_ns, p95_ns, p99_ns, p99_9_ns,
         max_ns, overflow, histogram
  FROM latencies WHERE group_name IS NULL;

CREATE VIEW transaction_times AS
  -- Of before step 7: times, where latency has its earlier name.
  SELECT run_id, transaction_name, CASE time WHEN 'latency' THEN 'response_time' ELSE time END AS time, outcome,
         count, min_ns, mean_ns, p50_ns, p90_ns, p95_ns, p99_ns, p99_9_ns, max_ns, overflow, histogram
  FROM times WHERE group_name IS NULL;

CREATE VIEW statement_times AS
  -- Per statement, of runs that timed them (--per-statement).
  SELECT run_id, json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.statement') AS statement,      -- its number in the script, from 0
         json_extract(one.value, '$.line') AS line,
         json_extract(one.value, '$.text') AS text,                -- as it is sent
         json_extract(one.value, '$.count') AS count,
         json_extract(one.value, '$.service_time.mean_ns') AS mean_ns,
         json_extract(one.value, '$.service_time.p50_ns') AS p50_ns,
         json_extract(one.value, '$.service_time.p90_ns') AS p90_ns,
         json_extract(one.value, '$.service_time.p95_ns') AS p95_ns,
         json_extract(one.value, '$.service_time.p99_ns') AS p99_ns,
         json_extract(one.value, '$.service_time.p99_9_ns') AS p99_9_ns,
         json_extract(one.value, '$.service_time.max_ns') AS max_ns,
         step
  FROM observations, json_each(document, '$.per_statement') AS one WHERE agent = 0;

CREATE VIEW intervals AS
  -- One row per second and group of clients; group_name '': the only group.
  SELECT run_id, json_extract(one.value, '$.second') AS second,
         json_extract(one.value, '$.ok') AS ok, json_extract(one.value, '$.failed') AS failed,
         json_extract(one.value, '$.p50_ns') AS p50_ns,
         json_extract(one.value, '$.p99_ns') AS p99_ns,
         json_extract(one.value, '$.max_ns') AS max_ns,
         json_extract(one.value, '$.aborted') AS aborted,
         json_extract(one.value, '$.unknown') AS unknown,
         json_extract(one.value, '$.late') AS late,
         json_extract(one.value, '$.skipped') AS skipped,
         json_extract(one.value, '$.retries') AS retries,
         json_extract(one.value, '$.clients_connected') AS clients_connected,
         json_extract(one.value, '$.schedule_lag_p99_ns') AS schedule_lag_p99_ns,
         json_extract(one.value, '$.stalled_ns') AS stalled_ns,      -- of it, the system
         json_extract(one.value, '$.suspended_ns') AS suspended_ns,  -- of it, the client
         coalesce(json_extract(one.value, '$.group'), '') AS group_name,
         step
  FROM observations, json_each(document, '$.intervals') AS one WHERE agent = 0;

CREATE VIEW errors AS
  -- Each kind of error once: its count, its first message, when it came first.
  SELECT run_id, json_extract(one.value, '$.class') AS class,
         json_extract(one.value, '$.code') AS code,                -- the system's own
         json_extract(one.value, '$.message') AS message,
         json_extract(one.value, '$.count') AS count,
         json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.first_at_ns') AS first_at_ns,
         json_extract(one.value, '$.retried') AS retried,
         json_extract(one.value, '$.certainty') AS certainty,      -- undone, or unknown: may have committed
         step
  FROM observations, json_each(document, '$.errors') AS one WHERE agent = 0;

CREATE VIEW client_ends AS
  -- How and when each client ended.
  SELECT run_id, json_extract(one.value, '$.client') AS client,
         json_extract(one.value, '$.elapsed_ns') AS elapsed_ns,
         json_extract(one.value, '$.passes') AS passes,
         json_extract(one.value, '$.transactions') AS transactions,
         json_extract(one.value, '$.state') AS state,
         step
  FROM observations, json_each(document, '$.client_ends') AS one WHERE agent = 0;

CREATE VIEW results AS
  -- What the statements answered: rows and a digest of them, and how many answers were unlike it.
  SELECT run_id, json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.statement') AS statement,
         json_extract(one.value, '$.rows') AS row_count,
         json_extract(one.value, '$.digest') AS digest,
         json_extract(one.value, '$.answers') AS answers,
         json_extract(one.value, '$.differing') AS differing,
         step
  FROM observations, json_each(document, '$.results') AS one WHERE agent = 0;

CREATE VIEW check_results AS
  -- Expected and found; expected NULL: unknown for these data.
  SELECT run_id, json_extract(one.value, '$.id') AS id,
         json_extract(one.value, '$.title') AS title,
         json_extract(one.value, '$.expected') AS expected,
         json_extract(one.value, '$.found') AS found,
         json_extract(one.value, '$.ok') AS is_right,              -- 1, 0 or NULL
         step
  FROM checks, json_each(document) AS one;

CREATE VIEW outages AS
  -- Times in which no client had a session; since the beginning of the measurement.
  SELECT run_id, json_extract(one.value, '$.from_ns') AS from_ns,
         json_extract(one.value, '$.to_ns') AS to_ns,
         step
  FROM observations, json_each(document, '$.outages') AS one WHERE agent = 0;

CREATE VIEW costs AS
  -- What client and server took of the machine during the measurement. Server NULL: it could not be
  -- seen, or lived in the client's process.
  SELECT run_id,
         json_extract(document, '$.client_cost.user_ns') AS client_user_ns,
         json_extract(document, '$.client_cost.system_ns') AS client_system_ns,
         json_extract(document, '$.client_cost.per_transaction_ns') AS client_per_transaction_ns,
         json_extract(document, '$.client_cost.resident_peak_bytes') AS client_resident_peak_bytes,
         json_extract(document, '$.client_cost.voluntary_switches') AS client_voluntary_switches,
         json_extract(document, '$.client_cost.involuntary_switches') AS client_involuntary_switches,
         json_extract(document, '$.server_cost.cpu_ns') AS server_cpu_ns,
         json_extract(document, '$.server_cost.per_transaction_ns') AS server_per_transaction_ns,
         json_extract(document, '$.server_cost.resident_peak_bytes') AS server_resident_peak_bytes,
         json_extract(document, '$.server_cost.read_bytes') AS server_read_bytes,
         -- Of older runs; too large by far where the kernel counts large folios.
         json_extract(document, '$.server_cost.written_bytes') AS server_written_bytes,
         -- The block device under the data. The next two are of the whole device, whichever program used it;
         -- NULL: not measured (memory, a network, a server that is not ours).
         json_extract(document, '$.device_cost.device') AS device,
         json_extract(document, '$.device_cost.read_bytes') AS device_read_bytes,
         json_extract(document, '$.device_cost.written_bytes') AS device_written_bytes,
         -- The client's threads, ready to run; summed.
         json_extract(document, '$.client_cost.waited_for_processor_ns') AS waited_for_processor_ns,
         -- All processors of the machine, by any program.
         json_extract(document, '$.client_cost.machine_busy_ns') AS machine_busy_ns,
         step
  FROM observations WHERE agent = 0;

CREATE VIEW server_counters AS
  -- How far the server's own counters went on during the measurement (buffer_hits, buffer_misses).
  SELECT run_id, counted.key AS name, counted.value AS count, step
  FROM observations, json_each(document, '$.server_counters') AS counted WHERE agent = 0;

CREATE VIEW service AS
  -- Whether every client was served all the time. In a closed loop clients_at_work and clients_by_law are
  -- the same where no time of a client is missing (Little's law); NULL in an open loop.
  SELECT run_id,
         json_extract(document, '$.transactions_per_client.least') AS least_transactions,
         json_extract(document, '$.transactions_per_client.median') AS median_transactions,
         json_extract(document, '$.transactions_per_client.most') AS most_transactions,
         json_extract(document, '$.in_flight.count') AS in_flight,   -- when the measurement ended
         json_extract(document, '$.in_flight.oldest_ns') AS oldest_in_flight_ns,
         json_extract(document, '$.in_flight.begun_in_warm_up') AS in_flight_since_warm_up,
         json_extract(document, '$.carried_over.count') AS carried_over,  -- begun in the warm-up
         json_extract(document, '$.carried_over.longest_ns') AS longest_carried_over_ns,
         json_extract(document, '$.littles_law.clients') AS clients_at_work,
         json_extract(document, '$.littles_law.clients_by_law') AS clients_by_law,
         json_extract(document, '$.littles_law.throughput_per_s') AS throughput_per_s,
         -- The earlier name of latency_ns.
         coalesce(json_extract(document, '$.littles_law.latency_ns'),
                  json_extract(document, '$.littles_law.response_time_ns')) AS response_time_ns,
         json_extract(document, '$.littles_law.pause_ns') AS pause_ns,
         coalesce(json_extract(document, '$.littles_law.latency_ns'),
                  json_extract(document, '$.littles_law.response_time_ns')) AS latency_ns,
         step
  FROM observations
  WHERE agent = 0 AND json_type(document, '$.transactions_per_client') IS NOT NULL;

CREATE VIEW standstills AS
  -- When nothing went on, since the beginning of the measurement. who is system (no transaction ended while
  -- clients waited for an answer) or client (this program did not run).
  SELECT run_id, 'system' AS who,
         json_extract(one.value, '$.from_ns') AS from_ns,
         json_extract(one.value, '$.to_ns') AS to_ns,
         step
  FROM observations, json_each(document, '$.stalls') AS one WHERE agent = 0
  UNION ALL
  SELECT run_id, 'client',
         json_extract(one.value, '$.from_ns'),
         json_extract(one.value, '$.to_ns'),
         step
  FROM observations, json_each(document, '$.suspensions') AS one WHERE agent = 0;
