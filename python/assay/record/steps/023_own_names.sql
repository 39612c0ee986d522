-- Step 23: columns that had the name of another number have one of their own: retries that are allowed (most_retries), and
-- transactions of any outcome per second (ended_per_s), where throughput_per_s is of those that ended ok. Percentiles
-- of seconds obey the rule of all others: none of too few transactions.

DROP VIEW driving;
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
         json_extract(cell, '$.driving.retries') AS most_retries,       -- of one transaction; outcomes.retries: those that were
         nullif(json_extract(cell, '$.driving.isolation'), '') AS isolation,
         json_extract(cell, '$.driving.connection') AS connection
  FROM runs;

DROP VIEW service;
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
         json_extract(document, '$.littles_law.throughput_per_s') AS ended_per_s,  -- with any outcome
         -- The earlier name of latency_ns.
         coalesce(json_extract(document, '$.littles_law.latency_ns'),
                  json_extract(document, '$.littles_law.response_time_ns')) AS response_time_ns,
         json_extract(document, '$.littles_law.pause_ns') AS pause_ns,
         coalesce(json_extract(document, '$.littles_law.latency_ns'),
                  json_extract(document, '$.littles_law.response_time_ns')) AS latency_ns,
         step
  FROM observations
  WHERE agent = 0 AND json_type(document, '$.transactions_per_client') IS NOT NULL;

DROP VIEW intervals;
CREATE VIEW intervals AS
  -- One row per second and group of clients; group_name '': the only group. Percentiles: NULL of too few transactions
  -- (p50 needs 6, p99 368).
  SELECT run_id, json_extract(one.value, '$.second') AS second,
         json_extract(one.value, '$.ok') AS ok, json_extract(one.value, '$.failed') AS failed,
         CASE WHEN json_extract(one.value, '$.ok') >= 6 THEN json_extract(one.value, '$.p50_ns') END AS p50_ns,
         CASE WHEN json_extract(one.value, '$.ok') >= 368 THEN json_extract(one.value, '$.p99_ns') END AS p99_ns,
         json_extract(one.value, '$.max_ns') AS max_ns,
         json_extract(one.value, '$.aborted') AS aborted,
         json_extract(one.value, '$.unknown') AS unknown,
         json_extract(one.value, '$.late') AS late,
         json_extract(one.value, '$.skipped') AS skipped,
         json_extract(one.value, '$.retries') AS retries,
         json_extract(one.value, '$.clients_connected') AS clients_connected,
         CASE WHEN json_extract(one.value, '$.ok') + json_extract(one.value, '$.aborted')
                + json_extract(one.value, '$.failed') + json_extract(one.value, '$.unknown') >= 368
              THEN json_extract(one.value, '$.schedule_lag_p99_ns') END AS schedule_lag_p99_ns,
         json_extract(one.value, '$.stalled_ns') AS stalled_ns,      -- of it, the system
         json_extract(one.value, '$.suspended_ns') AS suspended_ns,  -- of it, the client
         coalesce(json_extract(one.value, '$.group'), '') AS group_name,
         step
  FROM observations, json_each(document, '$.intervals') AS one WHERE agent = 0;
