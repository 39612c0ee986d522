"""Takes the cells or runs of a test; returns what a report says of their storages."""
