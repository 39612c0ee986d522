"""CUBRID: a private server where its programs are, or one by URL; through its Python driver."""

from assay.systems.cubrid.system import CUBRID

__all__ = ["CUBRID"]
