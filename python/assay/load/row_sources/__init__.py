"""Row sources, which provide the rows of workloads: entry points ``assay.row_sources``, named by a
workload in ``[data] source``."""
