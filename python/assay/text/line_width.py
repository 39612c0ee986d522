"""Takes a stream; returns how many columns a line written there may have."""

from __future__ import annotations

import os
from typing import TextIO

from assay import env_vars

LEAST = 20
ELSEWHERE = 80
"""Columns of a text that is written to no terminal."""


def line_width(stream: TextIO) -> int | None:
    """What the variable COLUMNS says, if it is above 0, else the width of the terminal; None: there
    is none."""
    named = env_vars.COLUMNS.get() or ""
    if named.isdecimal() and named.isascii() and len(named) < 6 and int(named):
        return max(LEAST, int(named))
    try:
        found = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        found = 0
    return max(LEAST, found) if found else None
