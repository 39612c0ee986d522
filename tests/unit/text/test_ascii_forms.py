"""Where the locale is not UTF-8, characters have ASCII forms in place of ``?``."""

from __future__ import annotations

import io

from assay.text.ascii_forms import with_ascii_forms


def test_characters_that_an_encoding_lacks_have_ascii_forms() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")
    with_ascii_forms(stream)
    stream.write("12.5 µs │ ██▌ café ≥ 3 … 数")
    stream.flush()
    assert written.getvalue() == b"12.5 us | ##. cafe >= 3 . ?"


def test_what_an_encoding_has_stays_as_it_is() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="latin-1")
    with_ascii_forms(stream)
    stream.write("µs café …")
    stream.flush()
    assert written.getvalue().decode("latin-1") == "µs café ."
