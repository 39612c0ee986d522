"""Takes a text and a width; returns the text on one line of that width, cut at the end of a word
where one is near, or after so many characters."""

from __future__ import annotations

from assay.text import display_width
from assay.text.visible import visible

_ENDS_OF_WORDS = " ,;[="
_END_OF_A_NAME = 16
"""Characters: ``, 1000 clients``."""


def cut(text: str, width: int) -> str:
    shown = visible(text)
    if display_width.width(shown) <= width:
        return shown
    return f"{_to_a_sign(shown, width - 1)}…"


def cut_within(text: str, width: int) -> str:
    """Cut in the middle: names that differ in their last part only stay apart."""
    shown = visible(text)
    if display_width.width(shown) <= width:
        return shown
    end = min(_END_OF_A_NAME, max(0, width - 1) // 2)
    tail = shown[len(shown) - end :]
    place = tail.find(", ")  # whole parts
    tail = tail[place:] if place > 0 else tail
    while display_width.width(tail) > width - 1:
        tail = tail[1:]
    return f"{_to_a_sign(shown, width - 1 - display_width.width(tail))}…{tail}"


def beginning(text: str, most: int) -> str:
    """The text on one line, with a blank for all between two words; its first characters and a
    ``…`` where it has more than ``most``."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _to_a_sign(text: str, room: int) -> str:
    """At most so many columns, to the end of a word if one ends in the second half of them."""
    text = display_width.head(text, room)
    place = max(text.rfind(sign) for sign in _ENDS_OF_WORDS) + 1
    return text[:place] if place > room / 2 else text
