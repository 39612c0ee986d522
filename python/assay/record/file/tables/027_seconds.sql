-- Each second of a measurement while it passes.

CREATE TABLE seconds (
  -- The seconds of a step that is under way, or was when its process ended: written once a second. The observation
  -- of the step says the same, and takes their place. The view intervals shows both.
  run_id     INTEGER NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,               -- steps.position
  second     INTEGER NOT NULL,               -- since the measurement began, from 0
  group_name TEXT NOT NULL,                  -- of clients; '': the only one
  document   TEXT NOT NULL,                  -- JSON: as one of the intervals of an observation
  PRIMARY KEY (run_id, step, second, group_name)
);
