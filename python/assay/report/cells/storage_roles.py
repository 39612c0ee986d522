"""Takes a run; returns the role of its storage, by which papers name the columns of their tables:
``disk`` (it rotates), ``solid state`` or ``memory``.

It is the one that was asked for (``role=disk``). Without, a modelled storage has the role of its
model; any other what the kernel says of its device, which virtual machines often get wrong.
"""

from __future__ import annotations

from assay.record import RunRecord

DISK, SOLID_STATE, MEMORY = "disk", "solid state", "memory"
_OF_MODELS = {"rotating": DISK, "solid-state": SOLID_STATE}


def role(run: RunRecord) -> str | None:
    """None where nothing was provisioned, or the storage is not known."""
    if said := (run.cell.get("storage") or {}).get("role"):
        return str(said).replace("-", " ")
    storage = run.deployment.storage if run.deployment else None
    if storage is None:
        return None
    if model := storage.facts.get("model"):
        return _OF_MODELS.get(model["kind"])
    if storage.file_system == "tmpfs":
        return MEMORY
    rotates = storage.facts.get("is_rotational")
    return None if rotates is None else DISK if rotates else SOLID_STATE
