"""The programs ``bibsql`` and ``bibtosql``."""
