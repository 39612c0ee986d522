"""Takes a workload folder, or script files; gives the `Workload` they declare."""
