"""The settings of an experiment: the catalogue, and what each level may be and means."""
