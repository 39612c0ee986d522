"""Takes a `Report`; writes it, one file for each format."""
