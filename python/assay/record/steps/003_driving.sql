-- Step 3: how clients were driven, and what an observation holds since there are open loops, retries,
-- lost and found connections, and times of single statements. Documents stay as they are: what an older
-- run did not keep is NULL here.

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

DROP VIEW outcomes;

CREATE VIEW outcomes AS
  -- Every transaction accounted for: scheduled = ok + aborted + failed + unknown + skipped, and
  -- attempts = scheduled - skipped + retries.
  SELECT run_id,
         json_extract(document, '$.elapsed_ns') AS elapsed_ns,     -- measurement, to the last end
         json_extract(document, '$.outcomes.scheduled') AS scheduled,
         json_extract(document, '$.outcomes.ok') AS ok,
         json_extract(document, '$.outcomes.aborted') AS aborted,  -- as the workload asked
         json_extract(document, '$.outcomes.failed') AS failed,
         json_extract(document, '$.outcomes.unknown') AS unknown,  -- nobody can know
         json_extract(document, '$.outcomes.skipped') AS skipped,  -- too late to begin
         json_extract(document, '$.ended_by') AS ended_by,
         json_extract(document, '$.outcomes.late') AS late,        -- ended beyond the latency limit
         json_extract(document, '$.outcomes.retries') AS retries,
         json_extract(document, '$.outcomes.attempts') AS attempts,
         json_extract(document, '$.reconnects') AS reconnects,
         json_extract(document, '$.outcomes.ok') * 1e9
           / nullif(json_extract(document, '$.elapsed_ns'), 0) AS throughput_per_s
  FROM observations;

CREATE VIEW transaction_times AS
  -- As response_times, and of open loops the other two: time is response_time (from the intended start;
  -- what to look at first), service_time (from the actual start) or schedule_lag (between the two). In a
  -- closed loop nothing is intended: there is no schedule_lag, and service_time is response_time.
  WITH parts AS (
    SELECT run_id, each.value AS one
    FROM observations, json_each(document, '$.transactions') AS each
    UNION ALL
    SELECT run_id, json_extract(document, '$.passes') FROM observations
  )
  SELECT run_id, json_extract(one, '$.name') AS transaction_name, measured.key AS time,
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
    AND measured.key IN ('response_time', 'service_time', 'schedule_lag');

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
         json_extract(one.value, '$.service_time.max_ns') AS max_ns
  FROM observations, json_each(document, '$.per_statement') AS one;

DROP VIEW intervals;

CREATE VIEW intervals AS
  -- One row per second of a run.
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
         json_extract(one.value, '$.schedule_lag_p99_ns') AS schedule_lag_p99_ns
  FROM observations, json_each(document, '$.intervals') AS one;

CREATE VIEW outages AS
  -- Times in which no client had a session; since the beginning of the measurement.
  SELECT run_id, json_extract(one.value, '$.from_ns') AS from_ns,
         json_extract(one.value, '$.to_ns') AS to_ns
  FROM observations, json_each(document, '$.outages') AS one;

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
         json_extract(document, '$.server_cost.written_bytes') AS server_written_bytes
  FROM observations;

CREATE VIEW server_counters AS
  -- How far the server's own counters went on during the measurement (buffer_hits, buffer_misses).
  SELECT run_id, counted.key AS name, counted.value AS count
  FROM observations, json_each(document, '$.server_counters') AS counted;
