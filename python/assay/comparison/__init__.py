"""Takes records of two sides, or of one cell over time; gives a `Comparison` (ratios with their
intervals, verdicts, what differs) or a `Trend`. Prints nothing.
"""
