"""One file per kind of storage: how to create, describe and remove it."""

from __future__ import annotations

from assay.contracts.storages.protocol import Storage

__all__ = ["Storage", "validate"]


def validate(storage: object) -> None:
    """Raises `ContractBroken` with every violation of the `Storage` contract by a plugin's
    storage."""
    from assay.contracts.storages import abilities

    abilities.validate(storage)
