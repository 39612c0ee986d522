"""One file per kind of storage: how to make it, what it is, how to take it away."""

from assay.storages.protocol import Storage

__all__ = ["Storage"]
