"""Takes a `Deployment` and a workload; returns a `Dataset`: filled, counted, measured."""
