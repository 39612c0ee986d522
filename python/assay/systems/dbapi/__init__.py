"""Any Python DB-API 2.0 module as a system under test: ``--on 'dbapi:MODULE[keyword=value,…]'``."""

from assay.systems.dbapi.system import DBAPI

__all__ = ["DBAPI"]
