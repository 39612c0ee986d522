"""Takes nothing; returns the dialects that declare limits, by name."""

from __future__ import annotations

from collections.abc import Mapping

from assay import registry
from assay.dialects.limits import Limited


def limited_dialects() -> Mapping[str, Limited]:
    """Those of systems, and those that a DB-API module can speak."""
    return {name: one for name, one in registry.dialects().items() if isinstance(one, Limited)}
