"""MongoDB as a system under test: a private `mongod` where this machine has one, or one by URL."""

from assay.systems.mongodb.system import MONGODB

__all__ = ["MONGODB"]
