"""One folder per workload: `workload.toml`, scripts, overrides, expected answers. Read from here."""
