"""Numbers as people write them, and text as a terminal may show it."""
