"""Takes text of a server, a file name or a script; returns it as a terminal may show it: no
character in it moves the cursor, changes a colour or the order of letters, or ends a line.

Such a character is written as JSON escapes it (``\\u001b``), so that a JSON document stays the same
document. Letters, signs and emoji of every language stay as they are.
"""

from __future__ import annotations

import unicodedata
from typing import TextIO, cast

_JOINERS = "\u00ad\u200c\u200d"
"""Format characters that words and emoji need: a soft hyphen, and what joins letters or not."""


def visible(text: str, *, keep: str = "") -> str:
    """The text without control characters, but for those in ``keep``."""
    if text.isascii() and text.isprintable():
        return text
    escapes = {
        ord(character): _escape(character)
        for character in set(text)
        if character not in keep and _is_control(character)
    }
    return text.translate(escapes) if escapes else text


def visible_lines(text: str) -> str:
    """The same for text that may have several lines."""
    if text.isascii() and text.isprintable():
        return text
    return visible(text.replace("\r\n", "\n"), keep="\n\t")


def indented(text: str) -> str:
    """The same for a message: lines behind the first stand under it, so that what a server says is
    not taken for our own words."""
    first, *others = visible_lines(text).split("\n")
    return "\n".join([first, *(f"    {line}".rstrip() for line in others)])


def for_terminal(stream: TextIO) -> TextIO:
    """The stream for data that have to stay as they are in a file: a terminal gets them visible."""
    return cast(TextIO, _Terminal(stream)) if stream.isatty() else as_it_is(stream)


def as_it_is(stream: TextIO) -> TextIO:
    """The stream without the escapes that standard output makes: for data, and for text with
    colours of our own, in which all that comes from outside is escaped already."""
    return cast(TextIO, getattr(stream, "as_it_is", stream))


class _Terminal:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible_lines(text))


def _is_control(character: str) -> bool:
    """Control and format characters, halves of a pair, separators of lines and paragraphs."""
    return (
        unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and character not in _JOINERS
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
