"""PostgreSQL as a system under test: a private server on any storage, or one reached by URL."""

from assay.systems.postgresql.system import POSTGRESQL

__all__ = ["POSTGRESQL"]
