-- Step 12: an experiment of a file goes on in another process when its first one has ended before the last run.
-- What determines the result of a run has a fingerprint: runs that have ended are not repeated, unless it is
-- another by then; then they are superseded, and kept.

ALTER TABLE experiments ADD COLUMN command TEXT  /* JSON: the experiment file, and the options beside it; NULL: no file */;

ALTER TABLE experiments ADD COLUMN content TEXT NOT NULL DEFAULT '{}'  /* JSON: digests and versions of what determines its runs */;

ALTER TABLE runs ADD COLUMN content_fingerprint TEXT NOT NULL DEFAULT ''  /* cell, seed, texts, input and versions; '': not kept */;

ALTER TABLE runs ADD COLUMN continuation INTEGER NOT NULL DEFAULT 0  /* continuations.position of its process; 0: the first one */;

ALTER TABLE runs ADD COLUMN superseded INTEGER NOT NULL DEFAULT 0  /* 1: its content has changed; no part of the results */;

CREATE TABLE continuations (
  -- One row per process that went on with an experiment after another one had ended.
  experiment_id    INTEGER NOT NULL REFERENCES experiments (id),
  position         INTEGER NOT NULL,         -- 1-based
  begun_unix_ns    INTEGER NOT NULL,
  ended_process_id INTEGER NOT NULL,         -- of the process before
  last_unix_ns     INTEGER NOT NULL,         -- when that last entered a stage of a run
  run_position     INTEGER,                  -- the run that it was at, which began again; NULL: none
  run_state        TEXT,                     -- of that run
  changes          TEXT NOT NULL,            -- JSON: name → [before, now], of machine, build and content
  experiment       TEXT,                     -- JSON: what had been asked before; NULL: the same
  machine          TEXT NOT NULL,            -- JSON, as in experiments
  build            TEXT NOT NULL,            -- JSON, as in experiments
  content          TEXT NOT NULL,            -- JSON, as in experiments
  process_id       INTEGER NOT NULL,
  process_started  INTEGER NOT NULL,
  boot_id          TEXT NOT NULL,
  PRIMARY KEY (experiment_id, position)
);

CREATE TABLE compared_answers (
  -- What each run answered of the questions that all systems of the experiment are asked alike.
  run_id   INTEGER PRIMARY KEY REFERENCES runs (id),
  document TEXT NOT NULL                     -- JSON array
);
