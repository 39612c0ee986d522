"""Takes a loaded site; says whether the data in it are right."""
