"""The machine and the process on which an experiment runs, as the record holds them."""
