"""One file per kind of storage: how to make it, what it is, how to take it away."""

from __future__ import annotations

from assay.storages.protocol import Storage

__all__ = ["Storage", "validate"]


def validate(storage: object) -> None:
    """Raises `ContractBroken` with everything in which a plugin's storage is none."""
    from assay.storages import validation

    validation.validate(storage)
