"""Takes runs; returns their cells, the numbers that tables show of them, and what a workload
declares of its tables."""
