"""Takes text; returns it as a terminal shows it: counted, cut and wrapped by columns, without
signs that would move its cursor, and in ASCII where its encoding lacks a character."""

from __future__ import annotations

import codecs
import os
import textwrap
import unicodedata
from typing import Any, TextIO, cast

from rich.cells import cell_len, set_cell_size

from assay import env_vars

_FILL = "\ue7ff"
"""For private use, which no text has: behind each character that takes two columns, where a library
counts characters."""


def display_width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def cut_to_columns(text: str, columns: int) -> str:
    """As much of its beginning as has room."""
    if display_width(text) <= columns:
        return text
    return text[:columns] if text.isascii() else set_cell_size(text, columns).rstrip()


def wrapped_to_columns(wrapper: textwrap.TextWrapper, text: str) -> list[str]:
    """The lines of a wrapper of the standard library."""
    if text.isascii():
        return wrapper.wrap(text)
    wide = "".join(one + _FILL if cell_len(one) > 1 else one for one in text)
    return [line.replace(_FILL, "") for line in wrapper.wrap(wide)]


_ENDS_OF_WORDS = " ,;[="
_END_OF_A_NAME = 16
"""Characters: ``, 1000 clients``."""


def cut(text: str, width: int) -> str:
    shown = visible(text)
    if display_width(shown) <= width:
        return shown
    return f"{_to_a_sign(shown, width - 1)}…"


def cut_within(text: str, width: int) -> str:
    """Cut in the middle: names that differ in their last part only stay apart."""
    shown = visible(text)
    if display_width(shown) <= width:
        return shown
    end = min(_END_OF_A_NAME, max(0, width - 1) // 2)
    tail = shown[len(shown) - end :]
    place = tail.find(", ")  # whole parts
    tail = tail[place:] if place > 0 else tail
    while display_width(tail) > width - 1:
        tail = tail[1:]
    return f"{_to_a_sign(shown, width - 1 - display_width(tail))}…{tail}"


def shortened(text: str, most: int) -> str:
    """The text on one line, with a blank for all between two words; its first characters and a
    ``…`` where it has more than ``most``."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _to_a_sign(text: str, room: int) -> str:
    """At most so many columns, to the end of a word if one ends in the second half of them."""
    text = cut_to_columns(text, room)
    place = max(text.rfind(sign) for sign in _ENDS_OF_WORDS) + 1
    return text[:place] if place > room / 2 else text


LEAST_COLUMNS = 20
COLUMNS_ELSEWHERE = 80
"""Columns of a text that is written to no terminal."""


def line_width(stream: TextIO) -> int | None:
    """What the variable COLUMNS says, if it is above 0, else the width of the terminal; None: there
    is none."""
    named = env_vars.COLUMNS.get() or ""
    if named.isdecimal() and named.isascii() and len(named) < 6 and int(named):
        return max(LEAST_COLUMNS, int(named))
    try:
        found = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        found = 0
    return max(LEAST_COLUMNS, found) if found else None


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


_FORMS: dict[int, Any] = {
    **str.maketrans(
        "µμ×–—−…→←·•─│┌┐└┘├┤┬┴┼█▉▊▋▌▍▎▏“”‘’",  # noqa: RUF001
        "uux---.><..-|+++++++++####....\"\"''",
    ),
    **str.maketrans({"≥": ">=", "≤": "<=", "±": "+-"}),
}
_NAME = "assay-ascii"


def with_ascii_forms(stream: Any) -> None:
    """Of a stream that can be reconfigured; others are left as they are."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=_NAME)


def _ascii_forms(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(map(_form, lacking)), error.end


def _form(character: str) -> str:
    form = character.translate(_FORMS)
    if form.isascii():
        return form
    letter = unicodedata.normalize("NFKD", character)[0]
    return letter if letter.isascii() else "?"


codecs.register_error(_NAME, _ascii_forms)
