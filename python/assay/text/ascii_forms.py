"""Takes a text stream; makes it write ASCII forms of the characters that its encoding lacks, mostly
of one column, so that tables stay aligned: ``u`` for µ, ``#`` for a bar, ``e`` for é, and ``?`` for
those without such a form."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Any

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
