"""Takes a `Site` and a workload; gives a `Dataset`: filled, counted, measured."""
