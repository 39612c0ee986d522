"""MariaDB as a system under test: a private server on any storage, or one (also MySQL) by URL."""

from assay.systems.mysql_protocol.system import MARIADB

__all__ = ["MARIADB"]
