-- Step 18: samples hold the load of five and fifteen minutes, the memory, the context switches and the interrupts of
-- the machine.

ALTER TABLE samples ADD COLUMN machine_load_5min REAL;
ALTER TABLE samples ADD COLUMN machine_load_15min REAL;
ALTER TABLE samples ADD COLUMN machine_used_bytes INTEGER;       -- that programs could not have
ALTER TABLE samples ADD COLUMN machine_free_bytes INTEGER;       -- that holds nothing, not even files
ALTER TABLE samples ADD COLUMN machine_buffers_bytes INTEGER;    -- blocks of devices in the page cache
ALTER TABLE samples ADD COLUMN machine_shared_bytes INTEGER;     -- shared by processes, and files in memory
ALTER TABLE samples ADD COLUMN machine_swap_used_bytes INTEGER;
ALTER TABLE samples ADD COLUMN machine_context_switches INTEGER; -- since the machine was started
ALTER TABLE samples ADD COLUMN machine_interrupts INTEGER;       -- since the machine was started

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
  FROM observations WHERE agent = 0;
