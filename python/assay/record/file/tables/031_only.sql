-- Which runs of an experiment were asked for.

-- JSON: of each --only, its patterns, of which one fits every run that was to be executed, by all processes that worked on
-- the experiment; '[]': all runs were.
ALTER TABLE experiments ADD COLUMN only TEXT NOT NULL DEFAULT '[]';
