"""Takes texts; counts, cuts and wraps them by the columns that they take on a terminal, where a
Chinese character takes two and an accent that stands alone none."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len, set_cell_size

_FILL = "\ue7ff"
"""For private use, which no text has: behind each character that takes two columns, where a library
counts characters."""


def width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def head(text: str, columns: int) -> str:
    """As much of its beginning as has room."""
    if width(text) <= columns:
        return text
    return text[:columns] if text.isascii() else set_cell_size(text, columns).rstrip()


def wrapped(wrapper: textwrap.TextWrapper, text: str) -> list[str]:
    """The lines of a wrapper of the standard library."""
    if text.isascii():
        return wrapper.wrap(text)
    wide = "".join(one + _FILL if cell_len(one) > 1 else one for one in text)
    return [line.replace(_FILL, "") for line in wrapper.wrap(wide)]
