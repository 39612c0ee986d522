-- One observation of each step, of all its clients. Earlier tables had room for one of each machine, too; no version wrote those.

CREATE TABLE observations_before AS SELECT run_id, step, document FROM observations WHERE agent = 0 ORDER BY rowid;

DROP TABLE observations;

CREATE TABLE observations (
  -- What was measured, as the engine gave it: histograms, intervals, outcomes, errors, results.
  run_id   INTEGER NOT NULL REFERENCES runs (id),
  step     INTEGER NOT NULL DEFAULT 0,       -- steps.position
  document TEXT NOT NULL,                    -- JSON; the views show it as rows and columns
  PRIMARY KEY (run_id, step)
);

INSERT INTO observations SELECT run_id, step, document FROM observations_before ORDER BY rowid;

DROP TABLE observations_before;
