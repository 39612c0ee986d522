"""Takes the cells of a test; returns the sections of its report, one file each."""
