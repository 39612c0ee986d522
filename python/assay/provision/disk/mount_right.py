"""Says whether this process may mount file systems. Root may, but not in every container."""

from __future__ import annotations

from pathlib import Path

_STATUS = Path("/proc/self/status")
_CAP_SYS_ADMIN = 21
"""The number of the capability that mount(2) asks for, see capabilities(7)."""


def may_mount() -> bool:
    for line in _STATUS.read_text().splitlines():
        name, _, word = line.partition(":")
        if name == "CapEff":
            return bool(int(word, 16) >> _CAP_SYS_ADMIN & 1)
    return False
