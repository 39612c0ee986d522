"""What is measured of a storage and of a system before their first run."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

DEFAULT_S: Final = 2.0
"""Of the probe of a storage."""


class FirstUse(Struct, frozen=True):
    probe_s: float = 0.0
    """How long to probe each storage; 0: not at all."""
    measures_durability: bool = True
    """Whether to measure that commits are flushed before they are answered."""
