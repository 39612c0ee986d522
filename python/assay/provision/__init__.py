"""Takes a system and a storage; returns a `Deployment`: an address, what it is, and its
teardown."""

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.storage_facts import StorageFacts

__all__ = ["Address", "Deployment", "Node", "StorageFacts"]
