"""Takes the observations of several processes or parts of a drive; returns one of all."""
