"""Takes an experiment's record; returns tidy tables for programs, and their schema."""
