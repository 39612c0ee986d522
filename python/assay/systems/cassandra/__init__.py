"""Cassandra as a system under test: a private cluster of one node or several, or one by URL."""

from assay.systems.cassandra.system import CASSANDRA

__all__ = ["CASSANDRA"]
