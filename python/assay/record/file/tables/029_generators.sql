-- What each load generator does while it works.

CREATE TABLE generators_at_work (
  -- What is known of the load generators of a step that is under way, or was when its process ended: written once a
  -- second, in place of what was known before. The observation of the step says more, and takes its place.
  run_id     INTEGER NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,               -- steps.position
  elapsed_ns INTEGER NOT NULL,               -- since its clients began
  document   TEXT NOT NULL,                  -- JSON: as the generators of an observation
  PRIMARY KEY (run_id, step)
);
