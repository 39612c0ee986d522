"""FerretDB on PostgreSQL with DocumentDB as a system under test: documents through the protocol of
MongoDB."""

from assay.systems.ferretdb.system import FERRETDB

__all__ = ["FERRETDB"]
