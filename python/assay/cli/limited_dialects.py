"""Takes nothing; returns the dialects that declare limits, by name."""

from __future__ import annotations

from collections.abc import Mapping

from assay import registry
from assay.dialects.limits import Limited
from assay.systems.dbapi.dialects import DIALECTS


def limited_dialects() -> Mapping[str, Limited]:
    """Those of systems, and those that a DB-API module can speak."""
    of_systems = {one.dialect.name: one.dialect for _, one in registry.usable_systems()}
    found = {**DIALECTS, **of_systems}
    return {name: one for name, one in sorted(found.items()) if isinstance(one, Limited)}
