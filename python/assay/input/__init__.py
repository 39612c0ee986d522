"""Real data from outside: where it comes from, and how it is brought without installing anything."""
