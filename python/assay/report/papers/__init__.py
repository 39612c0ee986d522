"""Takes the runs of a paper's experiment; returns the paper's tables, figures and claims beside
what was measured."""
