-- What the clients did, and how long it took.

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
         json_extract(cell, '$.driving.statement_limit_s') AS statement_limit_s,
         json_extract(cell, '$.driving.retries') AS most_retries,       -- of one transaction; outcomes.retries: those that were
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
  FROM observations;

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
         coalesce(json_extract(one.value, '$.throughput_per_s'),  -- until its own last end
                  json_extract(one.value, '$.outcomes.ok') * 1e9
                    / nullif(json_extract(document, '$.elapsed_ns'), 0)) AS throughput_per_s
  FROM observations, json_each(document, '$.groups') AS one
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
  WHERE json_type(document, '$.groups') IS NULL AND json_type(document, '$.outcomes') IS NOT NULL;

CREATE VIEW times AS
  -- Per transaction type and outcome. time is latency (from the intended start in an open loop, from the
  -- actual one in a closed loop), service_time (from the actual start) or schedule_lag (between the two); a
  -- closed loop has latency alone. transaction_name NULL: per pass (all types once, in order). group_name
  -- NULL: all groups of clients together.
  WITH parts AS (
    SELECT run_id, step, NULL AS group_name, each.value AS one
    FROM observations, json_each(document, '$.transactions') AS each
    UNION ALL
    SELECT run_id, step, NULL, json_extract(document, '$.passes') FROM observations
    UNION ALL
    SELECT run_id, step, json_extract(own.value, '$.name'), each.value
    FROM observations, json_each(document, '$.groups') AS own, json_each(own.value, '$.transactions') AS each
    WHERE json_array_length(document, '$.groups') > 1
  )
  SELECT run_id, step, group_name, json_extract(one, '$.name') AS transaction_name,
         measured.key AS time,
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
    AND measured.key IN ('latency', 'service_time', 'schedule_lag');

CREATE VIEW latencies AS
  -- Of times, the latency.
  SELECT run_id, step, group_name, transaction_name, outcome, count, min_ns, mean_ns, p50_ns, p90_ns, p95_ns,
         p99_ns, p99_9_ns, max_ns, overflow, histogram
  FROM times WHERE time = 'latency';

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
  FROM observations, json_each(document, '$.per_statement') AS one;

CREATE VIEW machine_seconds AS
  -- What the machine of the clients did in each second of a measurement, per second; NULL: not known. Of a run that is
  -- under way: the seconds that have passed.
  WITH parts AS (
    SELECT run_id, step, each.value AS one
    FROM observations, json_each(document, '$.machine_seconds') AS each
    UNION ALL
    SELECT run_id, step, machine FROM seconds WHERE machine IS NOT NULL
  )
  SELECT run_id, json_extract(one, '$.second') AS second,
         json_extract(one, '$.client_cpus') AS client_cpus,     -- CPU seconds per second of the client's processes
         json_extract(one, '$.client_busy') AS client_busy,     -- share of the time of each thread that drives clients
         json_extract(one, '$.server_cpus') AS server_cpus,     -- of the server's processes
         json_extract(one, '$.machine_cpus') AS machine_cpus,   -- of all programs and the kernel
         json_extract(one, '$.other_cpus') AS other_cpus,       -- of programs that are neither client nor server
         json_extract(one, '$.device') AS device,               -- under the data, whichever program used it
         json_extract(one, '$.reads') AS reads,
         json_extract(one, '$.writes') AS writes,
         json_extract(one, '$.flushes') AS flushes,
         json_extract(one, '$.read_bytes') AS read_bytes,
         json_extract(one, '$.written_bytes') AS written_bytes,
         step
  FROM parts;

CREATE VIEW intervals AS
  -- One row per second and group of clients; group_name '': the only group. Percentiles: NULL of too few transactions
  -- (p50 needs 6, p99 368). Of a run that is under way: the seconds that have passed.
  WITH parts AS (
    SELECT run_id, step, each.value AS one FROM observations, json_each(document, '$.intervals') AS each
    UNION ALL
    SELECT run_id, step, document FROM seconds
  )
  SELECT run_id, json_extract(one, '$.second') AS second,
         json_extract(one, '$.ok') AS ok, json_extract(one, '$.failed') AS failed,
         CASE WHEN json_extract(one, '$.ok') >= 6 THEN json_extract(one, '$.p50_ns') END AS p50_ns,
         CASE WHEN json_extract(one, '$.ok') >= 368 THEN json_extract(one, '$.p99_ns') END AS p99_ns,
         json_extract(one, '$.max_ns') AS max_ns,
         json_extract(one, '$.aborted') AS aborted,
         json_extract(one, '$.unknown') AS unknown,
         json_extract(one, '$.late') AS late,
         json_extract(one, '$.skipped') AS skipped,
         json_extract(one, '$.retries') AS retries,
         json_extract(one, '$.clients_connected') AS clients_connected,
         CASE WHEN json_extract(one, '$.ok') + json_extract(one, '$.aborted')
                + json_extract(one, '$.failed') + json_extract(one, '$.unknown') >= 368
              THEN json_extract(one, '$.schedule_lag_p99_ns') END AS schedule_lag_p99_ns,
         json_extract(one, '$.stalled_ns') AS stalled_ns,      -- of it, the system
         json_extract(one, '$.suspended_ns') AS suspended_ns,  -- of it, the client
         coalesce(json_extract(one, '$.group'), '') AS group_name,
         step,
         json_extract(one, '$.latency.sum_ns') * 1.0 / nullif(json_extract(one, '$.latency.count'), 0) AS mean_ns
  FROM parts;

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
  FROM observations, json_each(document, '$.errors') AS one;

CREATE VIEW client_ends AS
  -- How and when each client ended.
  SELECT run_id, json_extract(one.value, '$.client') AS client,
         json_extract(one.value, '$.elapsed_ns') AS elapsed_ns,
         json_extract(one.value, '$.passes') AS passes,
         json_extract(one.value, '$.transactions') AS transactions,
         json_extract(one.value, '$.state') AS state,
         step
  FROM observations, json_each(document, '$.client_ends') AS one;

CREATE VIEW results AS
  -- What the statements answered: rows and a digest of them, and how many answers were unlike it.
  SELECT run_id, json_extract(one.value, '$.transaction') AS transaction_name,
         json_extract(one.value, '$.statement') AS statement,
         json_extract(one.value, '$.rows') AS row_count,
         json_extract(one.value, '$.digest') AS digest,
         json_extract(one.value, '$.answers') AS answers,
         json_extract(one.value, '$.differing') AS differing,
         step
  FROM observations, json_each(document, '$.results') AS one;
