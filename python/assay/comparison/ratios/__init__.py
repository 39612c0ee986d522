"""Takes the runs of cells on two sides; gives ratios with verdicts, or why none may be decided."""
