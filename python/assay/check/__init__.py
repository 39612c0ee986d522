"""Takes a loaded deployment; says whether the data in it are right."""
