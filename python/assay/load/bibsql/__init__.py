"""Takes BibTeX files; returns the rows of the workload `bibsql`, their updates file by file, and
the programs ``bibsql`` and ``bibtosql``. A row source like any other (see
`assay.load.row_sources`)."""
