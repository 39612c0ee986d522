"""Takes a deployment on a storage; returns what became of its commits by the time they were
answered: flushed, written, or neither (`stage.measure`)."""
