-- What the probes of storages measured.

CREATE VIEW storage_probes AS
  -- What each probe measured; NULL: it was not measured, and the reason says why.
  SELECT run_id, storage, begun_unix_ns,
         coalesce(json_extract(document, '$.reason'), '') AS reason,
         json_extract(document, '$.program') AS program,           -- with its version
         json_extract(document, '$.seconds') AS seconds,           -- how long it was to take
         json_extract(document, '$.file_bytes') AS file_bytes,     -- on which it was measured
         coalesce(json_extract(document, '$.is_direct'), 1) AS is_direct,  -- 0: through the page cache
         json_extract(document, '$.sequential_read.bytes_per_s') AS sequential_read_bytes_per_s,
         json_extract(document, '$.sequential_write.bytes_per_s') AS sequential_write_bytes_per_s,
         json_extract(document, '$.flushes.per_s') AS flushes_per_s,       -- each with a write of 8 KiB
         json_extract(document, '$.flushes.mean_ns') AS flush_mean_ns,
         json_extract(document, '$.flushes.p99_ns') AS flush_p99_ns
  FROM probes;

CREATE VIEW random_reads AS
  -- Random reads of 8 KiB in each probe, by how many were under way at once.
  SELECT run_id, storage,
         json_extract(one.value, '$.depth') AS depth,
         json_extract(one.value, '$.per_s') AS per_s,
         json_extract(one.value, '$.mean_ns') AS mean_ns,
         json_extract(one.value, '$.p99_ns') AS p99_ns,
         json_extract(one.value, '$.count') AS count
  FROM probes, json_each(document, '$.random_reads') AS one;
