"""A system that does nothing, with delays and errors on demand: to try and test Assay."""

from assay.systems.null.system import NULL

__all__ = ["NULL"]
