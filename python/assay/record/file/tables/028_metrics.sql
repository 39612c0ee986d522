-- What a run measured, metric by metric.

CREATE TABLE metric_values (
  -- The metrics of a run that has ended, as its reports have them; see the views metrics and transaction_metrics. Runs
  -- of before this table have none.
  run_id           INTEGER NOT NULL REFERENCES runs (id),
  transaction_name TEXT NOT NULL,            -- '': all of the run
  document         TEXT NOT NULL,            -- JSON: name of the metric → value; what there is none of is left out
  PRIMARY KEY (run_id, transaction_name)
);
