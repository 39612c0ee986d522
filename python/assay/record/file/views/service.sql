-- Whether every client was served all the time.

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
         json_extract(document, '$.littles_law.pause_ns') AS pause_ns,
         json_extract(document, '$.littles_law.latency_ns') AS latency_ns,
         step
  FROM observations
  WHERE json_type(document, '$.transactions_per_client') IS NOT NULL;

CREATE VIEW standstills AS
  -- When nothing went on, since the beginning of the measurement. who is system (no transaction ended while
  -- clients waited for an answer) or client (this program did not run).
  SELECT run_id, 'system' AS who,
         json_extract(one.value, '$.from_ns') AS from_ns,
         json_extract(one.value, '$.to_ns') AS to_ns,
         step
  FROM observations, json_each(document, '$.stalls') AS one
  UNION ALL
  SELECT run_id, 'client',
         json_extract(one.value, '$.from_ns'),
         json_extract(one.value, '$.to_ns'),
         step
  FROM observations, json_each(document, '$.suspensions') AS one;

CREATE VIEW outages AS
  -- Times in which no client had a session; since the beginning of the measurement.
  SELECT run_id, json_extract(one.value, '$.from_ns') AS from_ns,
         json_extract(one.value, '$.to_ns') AS to_ns,
         step
  FROM observations, json_each(document, '$.outages') AS one;
