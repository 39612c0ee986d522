"""One file per dialect: how a family of systems spells types, schema, literals and bulk load."""

from assay.contracts.dialects import Column, Dialect, ForeignKey, Index, Table

__all__ = ["Column", "Dialect", "ForeignKey", "Index", "Table"]
