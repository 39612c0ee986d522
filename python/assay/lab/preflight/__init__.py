"""What is looked at before the first run: where systems and storages are, what is refused, and
whether the storages are large enough."""
