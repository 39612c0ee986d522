"""Takes an observation and expected answers; returns result checks, and why a run failed."""
