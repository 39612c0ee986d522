-- Step 6: statements travel as simple, extended or prepared, by pgbench's meanings. So far simple had
-- prepared each statement with a parameter: runs that did are prepared from here on. A parameter is a name
-- behind one colon in a script; `::` is a cast. What the engine was told then stays as it was (drives).

UPDATE runs SET protocol = 'prepared', cell = json_set(cell, '$.protocol', 'prepared')
WHERE protocol = 'simple' AND EXISTS (
  SELECT 1 FROM scripts
  WHERE scripts.run_id = runs.id AND replace(scripts.text, '::', '') GLOB '*:[A-Za-z_]*'
);
