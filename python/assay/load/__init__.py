"""Takes a `Deployment` and a workload; gives a `Dataset`: filled, counted, measured."""
