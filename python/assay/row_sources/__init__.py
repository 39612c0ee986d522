"""Says where the rows of a workload come from: one source each, by the entry point
``assay.row_sources``."""
