"""A system that does nothing, as slowly and as badly as it is told: to try and test Assay with."""

from assay.systems.null.system import NULL

__all__ = ["NULL"]
