"""One file per kind of storage: how to make it, what it is, how to take it away."""
