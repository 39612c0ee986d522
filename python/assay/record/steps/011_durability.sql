-- Step 11: the durability of a system's commits on a storage is measured, once per experiment, and stands in
-- the deployment of each of its runs.

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
  FROM sites WHERE json_type(document, '$.durability') = 'object';
