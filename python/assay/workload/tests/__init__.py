"""What a workload file says of its tests: their steps, drives and scripts."""
