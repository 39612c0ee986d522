"""Says where the rows of a workload come from: a row source each, found by name in the entry points
``assay.row_sources`` and named by a workload in ``[data] source``."""
