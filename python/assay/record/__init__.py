"""Takes everything that happens; keeps it, from before the first byte to after the last."""
