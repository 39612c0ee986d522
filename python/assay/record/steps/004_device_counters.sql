-- Step 4: what was written is taken from the device. The sum of the processes (written_bytes) was too
-- large by far where the kernel counts large folios; it stays as older runs kept it.

CREATE TABLE samples_of_step_4 (
  -- The server's processes, and the device under its data, while the clients were at work.
  run_id               INTEGER NOT NULL REFERENCES runs (id),
  at_s                 REAL NOT NULL,        -- since sampling began
  processes            INTEGER NOT NULL,
  threads              INTEGER NOT NULL,
  resident_bytes       INTEGER NOT NULL,     -- summed; shared pages once where the kernel tells
  virtual_bytes        INTEGER NOT NULL,
  open_files           INTEGER NOT NULL,     -- inside the data directory, summed
  cpu_ns               INTEGER NOT NULL,     -- user and system, since each process began, summed
  read_bytes           INTEGER,              -- by the server's processes, page cache left out
  written_bytes        INTEGER,              -- of older runs: by the processes, too large by far where
                                             -- the kernel counts large folios; NULL since
  device_read_bytes    INTEGER,              -- by the whole device, whoever asked; NULL: not measured
  device_written_bytes INTEGER
);

INSERT INTO samples_of_step_4
  SELECT run_id, at_s, processes, threads, resident_bytes, virtual_bytes, open_files, cpu_ns,
         read_bytes, written_bytes, NULL, NULL
  FROM samples;

DROP TABLE samples;

ALTER TABLE samples_of_step_4 RENAME TO samples;

CREATE INDEX samples_by_run ON samples (run_id);

DROP VIEW costs;

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
         -- Of older runs; too large by far where the kernel counts large folios.
         json_extract(document, '$.server_cost.written_bytes') AS server_written_bytes,
         -- The block device under the data. The next two are of the whole device, whoever asked for it;
         -- NULL: not measured (memory, a network, a server that is not ours).
         json_extract(document, '$.device_cost.device') AS device,
         json_extract(document, '$.device_cost.read_bytes') AS device_read_bytes,
         json_extract(document, '$.device_cost.written_bytes') AS device_written_bytes
  FROM observations;
