"""Takes rows of fields; writes them as CSV: the one place where this form is made."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TextIO

from assay.text.visible import for_terminal


def write(stream: TextIO, names: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A line of names, and one for each row. None is an empty field."""
    writer = csv.writer(for_terminal(stream), lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


def line(fields: Iterable[object]) -> str:
    """The fields on one line, without its end: one with a comma or a quote stands in quotes."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(fields)
    return stream.getvalue()
