-- Step 22: a group that ends before the others has the throughput of its own time.

DROP VIEW groups;
CREATE VIEW groups AS
  -- Transaction outcomes of each group of clients; a run without groups has one, named ''.
  SELECT run_id, step,
         json_extract(one.value, '$.name') AS group_name,
         json_extract(one.value, '$.clients') AS clients,
         json_extract(one.value, '$.outcomes.scheduled') AS scheduled,
         json_extract(one.value, '$.outcomes.ok') AS ok,
         json_extract(one.value, '$.outcomes.aborted') AS aborted,
         json_extract(one.value, '$.outcomes.failed') AS failed,
         json_extract(one.value, '$.outcomes.unknown') AS unknown,
         json_extract(one.value, '$.outcomes.skipped') AS skipped,
         json_extract(one.value, '$.outcomes.late') AS late,
         json_extract(one.value, '$.outcomes.retries') AS retries,
         coalesce(json_extract(one.value, '$.throughput_per_s'),  -- until its own last end
                  json_extract(one.value, '$.outcomes.ok') * 1e9
                    / nullif(json_extract(document, '$.elapsed_ns'), 0)) AS throughput_per_s
  FROM observations, json_each(document, '$.groups') AS one WHERE agent = 0
  UNION ALL
  SELECT run_id, step, '',
         json_extract(document, '$.clients'),
         json_extract(document, '$.outcomes.scheduled'),
         json_extract(document, '$.outcomes.ok'),
         json_extract(document, '$.outcomes.aborted'),
         json_extract(document, '$.outcomes.failed'),
         json_extract(document, '$.outcomes.unknown'),
         json_extract(document, '$.outcomes.skipped'),
         json_extract(document, '$.outcomes.late'),
         json_extract(document, '$.outcomes.retries'),
         json_extract(document, '$.outcomes.ok') * 1e9 / nullif(json_extract(document, '$.elapsed_ns'), 0)
  FROM observations
  WHERE agent = 0 AND json_type(document, '$.groups') IS NULL AND json_type(document, '$.outcomes') IS NOT NULL;
