"""Takes a deployment on a storage; returns how far its commits had come by the time they were
answered: flushed, written, or neither (`measure.measure`)."""
