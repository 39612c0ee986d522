"""The scripts of a workload: their names, files and languages."""
