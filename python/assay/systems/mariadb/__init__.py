"""MariaDB as a system under test: a private server on any storage, or one by URL."""

from assay.systems.mariadb.system import MARIADB

__all__ = ["MARIADB"]
