"""Takes a number of bytes; returns the size as a person writes it (``64MB``). Units are powers of
1024, as in `assay.text.quantities.Size`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_UNITS = (("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))


def option_word(size: int) -> str:
    """As the value of an option, with the letters that mount(8) and losetup(8) take: ``64M``."""
    return size_word(size).upper().removesuffix("B")


def about(size: int) -> str:
    """To three digits and never more than it is, in the largest unit of which it is one at least:
    ``23.5GB``."""
    for unit, factor in _UNITS:
        if size >= factor:
            whole = len(str(size // factor))
            places = 10 ** max(0, 3 - whole)
            return f"{size * places // factor / places:.12g}{unit}"
    return f"{size}B"


def in_largest_unit(amount: int, units: Sequence[tuple[str, int]]) -> str:
    """``8MB``: in the largest unit of which it is a whole number. ``units``: name and size of each,
    from the smallest; a unit is a multiple of the one before."""
    whole = units[0]
    for _, larger in pairwise(units):
        if amount % larger[1] == 0:
            whole = larger
    return f"{amount // whole[1]}{whole[0]}"


def size_word(size: int) -> str:
    """In the largest unit of which it is a whole number."""
    for unit, factor in _UNITS:
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"
