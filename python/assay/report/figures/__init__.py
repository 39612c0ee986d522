"""Takes the cells of a test or the tables of a report; returns the figures that explain them, each
only where the data have it."""
