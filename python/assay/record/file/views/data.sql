-- What the tables held, and whether it was right.

CREATE VIEW loads AS
  -- What each run's system held, how large it was on disk, and what filling it took.
  SELECT run_id,
         json_extract(document, '$.source') AS source,             -- real, synthetic or files
         json_extract(document, '$.description') AS description,
         json_extract(document, '$.fingerprint') AS fingerprint,   -- of the input's content
         json_extract(document, '$.replicas') AS replicas,
         json_extract(document, '$.load_ns') AS load_ns,           -- rows, in one transaction
         json_extract(document, '$.index_ns') AS index_ns,
         json_extract(document, '$.analyze_ns') AS analyze_ns,
         json_extract(document, '$.size_on_disk_bytes') AS size_on_disk_bytes,
         step,
         -- Of the input, before replication: entries of files, generated rows …
         json_extract(document, '$.items') AS items
  FROM datasets;

CREATE VIEW dataset_rows AS
  -- Rows per table, as the system counted them after the load.
  SELECT run_id, counted.key AS table_name, counted.value AS row_count, step
  FROM datasets, json_each(document, '$.rows') AS counted;

CREATE VIEW check_results AS
  -- Expected and found; expected NULL: unknown for these data.
  SELECT run_id, json_extract(one.value, '$.id') AS id,
         json_extract(one.value, '$.title') AS title,
         json_extract(one.value, '$.expected') AS expected,
         json_extract(one.value, '$.found') AS found,
         json_extract(one.value, '$.ok') AS is_right,              -- 1, 0 or NULL
         step
  FROM checks, json_each(document) AS one;

CREATE VIEW differing_rows AS
  -- Rows that are missing in a dump, and those that it should not have: all of them.
  SELECT run_id, step, json_extract(one.value, '$.id') AS check_id,
         kind.key AS difference,                                   -- missing or unexpected
         kind_row.key AS position,                                 -- in the order of the dump, from 0
         json_extract(one.value, '$.differing_rows.columns') AS columns, -- JSON: array of names
         kind_row.value AS cells                                   -- JSON: array of texts and NULLs
  FROM checks, json_each(document) AS one,
       json_each(one.value, '$.differing_rows') AS kind,
       json_each(kind.value) AS kind_row
  WHERE kind.key IN ('missing', 'unexpected');
