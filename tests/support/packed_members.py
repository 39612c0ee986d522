"""The bytes of a capsule with members that are in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from assay.record.capsule import packing


def packed(members: Mapping[str, bytes], assay: str) -> bytes:
    """As `writing.packed` packs files with this content."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, str(number)) for number, name in enumerate(members)}
        for name, file in files.items():
            file.write_bytes(members[name])
        target = Path(folder, "capsule")
        with packing.packed(files, assay) as found, target.open("wb") as stream:
            found.copy(stream.fileno())
        return target.read_bytes()
