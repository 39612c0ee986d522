"""One folder per workload: `workload.toml`, scripts, overrides, answers; and their reader."""
