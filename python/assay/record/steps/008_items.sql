-- Step 8: what the input of a data set holds is called items, whatever the source of the rows; the column of
-- before is still there.

DROP VIEW loads;

CREATE VIEW loads AS
  -- What each run's system held, how large it was on disk, and what filling it took.
  SELECT run_id,
         json_extract(document, '$.source') AS source,             -- real, synthetic or files
         json_extract(document, '$.description') AS description,
         json_extract(document, '$.fingerprint') AS fingerprint,   -- of the input's content
         -- The earlier name of items.
         coalesce(json_extract(document, '$.items'), json_extract(document, '$.entries')) AS entries,
         json_extract(document, '$.replicas') AS replicas,
         json_extract(document, '$.load_ns') AS load_ns,           -- rows, in one transaction
         json_extract(document, '$.index_ns') AS index_ns,
         json_extract(document, '$.analyze_ns') AS analyze_ns,
         json_extract(document, '$.size_on_disk_bytes') AS size_on_disk_bytes,
         step,
         -- Of the input, before replication: entries of files, generated rows …
         coalesce(json_extract(document, '$.items'), json_extract(document, '$.entries')) AS items
  FROM datasets;
