"""Takes an experiment; executes all stages of each run, and keeps the outcome."""
