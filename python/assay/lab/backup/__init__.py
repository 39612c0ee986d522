"""Takes a system with its data, and a way to back it up; makes a backup while clients work, and
restores it: `assay.lab.backup.back_up`. Each way is a module; `WAYS` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.lab.backup.cold_copy import COLD
from assay.lab.backup.dump import DUMP
from assay.lab.backup.snapshot import SNAPSHOT
from assay.lab.backup.way import Way

WAYS: Mapping[str, Way] = MappingProxyType({"dump": DUMP, "cold": COLD, "snapshot": SNAPSHOT})
"""By the name that is the level of a workload's parameter."""
