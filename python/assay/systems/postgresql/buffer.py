"""Takes the size that is asked of the buffer; returns the server's settings for it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.contracts.experiment import SystemChoice
from assay.systems.options import buffer_bytes, refuse_beyond_memory, rounded_up

_SETTING = "shared_buffers"
_LEAST_BYTES = 128 << 10
_DEFAULT_BYTES = 128 << 20
"""As initdb sets it where the machine has the shared memory."""
_SIZE = re.compile(r"(\d+) ?(B|kB|MB|GB|TB)?")
_UNITS = {None: 8 << 10, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""A number alone counts pages."""


def settings(options: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """Of the option ``buffer``; none where it is not asked for. Raises `ArgumentError`."""
    names = [name.lower() for name in asked]
    size = buffer_bytes(options, names, _SETTING)
    if size is None:
        return {}
    return {_SETTING: f"{rounded_up(size, 8 << 10, _LEAST_BYTES) >> 10}kB"}


def check(choice: SystemChoice) -> None:
    """Raises `ArgumentError` for a buffer that is no size, that is asked for twice, or that does
    not fit into the memory of the server."""
    by_lower_name = {name.lower(): value for name, value in choice.settings.items()}
    asked = {**settings(choice.options, choice.settings), **by_lower_name}
    found = _SIZE.fullmatch(asked.get(_SETTING, "").strip())
    size = int(found[1]) * _UNITS[found[2]] if found else None
    refuse_beyond_memory(choice, size, None if _SETTING in asked else _DEFAULT_BYTES)
