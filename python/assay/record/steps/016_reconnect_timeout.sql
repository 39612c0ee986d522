-- Step 16: the time for which clients try to reconnect is a timeout, as other limits of time are. A cell
-- that has one keeps equal to the same cell of a later version: its fingerprint is computed again.

UPDATE experiments SET experiment = replace(experiment, '"reconnect_patience_s"', '"reconnect_timeout_s"')
 WHERE experiment LIKE '%"reconnect_patience_s"%';

UPDATE drives SET document = replace(document, '"patience_s"', '"timeout_s"')
 WHERE document LIKE '%"patience_s"%';

UPDATE runs SET cell = replace(cell, '"reconnect_patience_s"', '"reconnect_timeout_s"')
 WHERE cell LIKE '%"reconnect_patience_s"%';

UPDATE cells SET cell_fingerprint = coalesce(
         (SELECT cell_fingerprint_2(cell) FROM runs
           WHERE runs.experiment_id = cells.experiment_id
             AND runs.cell_fingerprint = cells.cell_fingerprint
             AND cell LIKE '%"reconnect_timeout_s"%'),
         cell_fingerprint);

UPDATE runs SET cell_fingerprint = coalesce(cell_fingerprint_2(cell), cell_fingerprint)
 WHERE cell LIKE '%"reconnect_timeout_s"%';
