"""Data from outside: where they come from, and how they are brought with nothing installed."""
