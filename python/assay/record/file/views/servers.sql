-- The servers, what they used, and the machine under them.

CREATE VIEW settings AS
  -- Effective settings of each run's system, read back from it; `asked` where the run asked.
  SELECT run_id, effective.key AS name, effective.value AS effective,
         (SELECT asked.value FROM json_each(document, '$.settings_asked') AS asked
          WHERE asked.key = effective.key) AS asked
  FROM deployments, json_each(document, '$.settings') AS effective;

CREATE VIEW durability AS
  -- How far the commits of one client had come by the time they were answered.
  SELECT run_id,
         json_extract(document, '$.storage.name') AS storage,
         json_extract(document, '$.durability.durability_class') AS class,   -- D0 to D3; NULL: not measured
         json_extract(document, '$.durability.reason') AS reason,            -- why not
         json_extract(document, '$.durability.commits') AS commits,
         json_extract(document, '$.durability.flushed_before_answer') AS flushed_before_answer,
         json_extract(document, '$.durability.longest_delay_ns') AS longest_delay_ns,  -- answer to flush, D2
         json_extract(document, '$.durability.payload_bytes') AS payload_bytes,
         json_extract(document, '$.durability.written_bytes') AS written_bytes,        -- by the device
         json_extract(document, '$.durability.idle_flushes') AS idle_flushes,          -- without commits
         json_extract(document, '$.durability.file_system_flushes') AS file_system_flushes
  FROM deployments WHERE json_type(document, '$.durability') = 'object';

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
  FROM observations;

CREATE VIEW server_counters AS
  -- How far the server's own counters went on during the measurement (buffer_hits, buffer_misses).
  SELECT run_id, counted.key AS name, counted.value AS count, step
  FROM observations, json_each(document, '$.server_counters') AS counted;

CREATE VIEW cache_states AS
  -- What was done to the caches before the measurement, and what it left there.
  SELECT run_id, step,
         json_extract(document, '$.cache_state.cache') AS cache,                -- cold, warm …
         json_extract(document, '$.cache_state.done') AS done,                  -- JSON: array of texts
         json_extract(document, '$.cache_state.file_bytes') AS file_bytes,      -- of the data directories
         json_extract(document, '$.cache_state.cached_bytes') AS cached_bytes   -- of them, in the page cache
  FROM observations WHERE json_extract(document, '$.cache_state') IS NOT NULL;

CREATE VIEW machine_memory AS
  -- The memory of the machine in each measurement, and what of the data was in it at the end.
  SELECT run_id, step,
         json_extract(document, '$.machine_cost.load_5min_peak') AS load_5min_peak,
         json_extract(document, '$.machine_cost.load_15min_peak') AS load_15min_peak,
         json_extract(document, '$.machine_cost.used_peak_bytes') AS used_peak_bytes,
         json_extract(document, '$.machine_cost.free_least_bytes') AS free_least_bytes,
         json_extract(document, '$.machine_cost.buffers_peak_bytes') AS buffers_peak_bytes,
         json_extract(document, '$.machine_cost.shared_peak_bytes') AS shared_peak_bytes,
         json_extract(document, '$.machine_cost.swap_used_peak_bytes') AS swap_used_peak_bytes,
         json_extract(document, '$.machine_cost.context_switches') AS context_switches,
         json_extract(document, '$.machine_cost.interrupts') AS interrupts,
         json_extract(document, '$.data_in_memory.file_bytes') AS data_file_bytes,
         json_extract(document, '$.data_in_memory.cached_bytes') AS data_cached_bytes
  FROM observations;
