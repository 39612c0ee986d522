"""What steps share that send statements: caches, client programs, and parts of a measurement."""
