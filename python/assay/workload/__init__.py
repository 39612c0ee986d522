"""Takes a workload folder, or script files; returns the `Workload` they declare."""
