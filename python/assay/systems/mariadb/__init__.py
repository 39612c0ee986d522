"""MariaDB as a system under test: a private server on any storage, or one by URL."""

from assay.systems.mariadb.product import MariadbProduct
from assay.systems.mysql_protocol.system import ProductSystem

MARIADB = ProductSystem(MariadbProduct())

__all__ = ["MARIADB"]
