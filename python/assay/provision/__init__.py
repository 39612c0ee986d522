"""Takes a system and a storage; gives a `Site`: an address, what it really got, and its teardown."""

from assay.provision.site import Address, Site, StorageFacts

__all__ = ["Address", "Site", "StorageFacts"]
