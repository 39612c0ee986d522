"""Takes a system and a storage; gives a `Site`: an address, what it is, and its teardown."""

from assay.provision.site import Address, Site, StorageFacts

__all__ = ["Address", "Site", "StorageFacts"]
