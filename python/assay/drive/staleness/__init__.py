"""How long a number that is written to a primary takes until it is read at each of its replicas."""
