"""Takes systems, storages and machines as written; returns the choices, with every name checked."""
