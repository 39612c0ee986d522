"""Takes a workload folder; returns everything that is wrong with it, before any run."""
