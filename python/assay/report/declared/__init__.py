"""What a workload declares of its tables, and the values of cells that it names by keys."""
