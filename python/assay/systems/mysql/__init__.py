"""MySQL as a system under test: a private server on any storage, or one by URL."""

from assay.systems.mysql.system import MYSQL

__all__ = ["MYSQL"]
