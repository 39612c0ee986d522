"""What the steps of a run share: the context and state of the run, what is noted before and after
them, and its outcome."""
