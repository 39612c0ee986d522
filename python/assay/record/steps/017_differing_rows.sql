-- Step 17: the rows in which a dump differs from the expected one are kept with the check of the dump.

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
