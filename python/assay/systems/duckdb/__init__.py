"""DuckDB as a system under test: its library in this process, its file on any storage or by URL."""

from assay.systems.duckdb.system import DUCKDB

__all__ = ["DUCKDB"]
