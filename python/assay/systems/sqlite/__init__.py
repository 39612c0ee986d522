"""SQLite as a system under test: compiled into the engine, its file on any storage or by URL."""

from assay.systems.sqlite.system import SQLITE

__all__ = ["SQLITE"]
