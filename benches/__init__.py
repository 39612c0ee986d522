"""Benchmarks of Assay itself: ratios to other tools, run alternately on the same machine."""
