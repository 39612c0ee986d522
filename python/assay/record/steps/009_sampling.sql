-- Step 9: samples hold the requests and flushes of the device, the processor states and the page cache of the
-- machine, and how often each file of the server was open. NULL: not measured, and in runs of before this step.

ALTER TABLE samples ADD COLUMN files INTEGER;                  -- different files that open_files counts handles of
ALTER TABLE samples ADD COLUMN device_reads INTEGER;           -- requests completed since the machine was started
ALTER TABLE samples ADD COLUMN device_writes INTEGER;
ALTER TABLE samples ADD COLUMN device_flushes INTEGER;         -- NULL also: the device has no cache to flush
ALTER TABLE samples ADD COLUMN device_busy_ns INTEGER;         -- with at least one request under way
ALTER TABLE samples ADD COLUMN device_queue_ns INTEGER;        -- of all requests under way, summed
ALTER TABLE samples ADD COLUMN machine_user_ns INTEGER;        -- of all processors since the machine was started
ALTER TABLE samples ADD COLUMN machine_system_ns INTEGER;
ALTER TABLE samples ADD COLUMN machine_idle_ns INTEGER;
ALTER TABLE samples ADD COLUMN machine_iowait_ns INTEGER;      -- idle, with a thread waiting for a device
ALTER TABLE samples ADD COLUMN machine_steal_ns INTEGER;       -- taken by other virtual machines
ALTER TABLE samples ADD COLUMN machine_load_1min REAL;
ALTER TABLE samples ADD COLUMN machine_cached_bytes INTEGER;   -- files in the page cache
ALTER TABLE samples ADD COLUMN machine_dirty_bytes INTEGER;    -- of them, not yet written to their device

CREATE TABLE open_files (
  -- The files of the data directory that the server had open most often while the clients were at work; at
  -- most 100 of each step.
  run_id  INTEGER NOT NULL REFERENCES runs (id),
  step    INTEGER NOT NULL,                  -- steps.position
  file    TEXT NOT NULL,                     -- its path inside the data directory
  handles INTEGER NOT NULL,                  -- of all processes, in the sample with the most
  PRIMARY KEY (run_id, step, file)
);

DROP VIEW costs;

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
         -- The block device under the data. What it did is of the whole device, whichever program used it;
         -- NULL: not measured (memory, a network, a server that is not ours).
         json_extract(document, '$.device_cost.device') AS device,
         json_extract(document, '$.device_cost.read_bytes') AS device_read_bytes,
         json_extract(document, '$.device_cost.written_bytes') AS device_written_bytes,
         -- The client's threads, ready to run; summed.
         json_extract(document, '$.client_cost.waited_for_processor_ns') AS waited_for_processor_ns,
         -- All processors of the machine, by any program.
         json_extract(document, '$.client_cost.machine_busy_ns') AS machine_busy_ns,
         step,
         json_extract(document, '$.device_cost.reads') AS device_reads,         -- requests
         json_extract(document, '$.device_cost.writes') AS device_writes,
         -- NULL also: the device has no cache to flush.
         json_extract(document, '$.device_cost.flushes') AS device_flushes,
         json_extract(document, '$.device_cost.busy_ns') AS device_busy_ns,
         json_extract(document, '$.device_cost.queue_ns') AS device_queue_ns,   -- of all requests, summed
         -- Processor states of the machine, summed over its processors.
         json_extract(document, '$.machine_cost.user_ns') AS machine_user_ns,
         json_extract(document, '$.machine_cost.system_ns') AS machine_system_ns,
         json_extract(document, '$.machine_cost.idle_ns') AS machine_idle_ns,
         json_extract(document, '$.machine_cost.iowait_ns') AS machine_iowait_ns,
         json_extract(document, '$.machine_cost.steal_ns') AS machine_steal_ns,
         json_extract(document, '$.machine_cost.load_1min_peak') AS machine_load_1min_peak,
         json_extract(document, '$.machine_cost.cached_peak_bytes') AS machine_cached_peak_bytes,
         json_extract(document, '$.machine_cost.dirty_peak_bytes') AS machine_dirty_peak_bytes
  FROM observations WHERE agent = 0;

CREATE VIEW cache_states AS
  -- What was done to the caches before the measurement, and what it left there.
  SELECT run_id, step,
         json_extract(document, '$.cache_state.cache') AS cache,                -- cold, warm …
         json_extract(document, '$.cache_state.done') AS done,                  -- JSON: array of texts
         json_extract(document, '$.cache_state.file_bytes') AS file_bytes,      -- of the data directories
         json_extract(document, '$.cache_state.cached_bytes') AS cached_bytes   -- of them, in the page cache
  FROM observations WHERE agent = 0 AND json_extract(document, '$.cache_state') IS NOT NULL;
