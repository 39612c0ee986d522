"""What the engine takes and returns as JSON, typed: the same structs as in ``crates/``, by name."""
