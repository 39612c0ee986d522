"""mSQL, reached by URL; written from the description of its protocol."""

from assay.systems.msql.system import MSQL

__all__ = ["MSQL"]
