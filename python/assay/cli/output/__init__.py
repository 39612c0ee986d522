"""What commands print: tables of rows, reports, and the progress of a run."""
