"""Takes comparisons and trends; returns their reports, for people and for programs."""
