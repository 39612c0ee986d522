"""What a process was started with, and what of it would keep us from working: the mask of new
files' rights, the working directory, words that are no text."""

from __future__ import annotations

import os
from collections.abc import Iterable

from assay.errors import ArgumentError
from assay.files.text_file import shown_if_not_utf8

_OWN_RIGHTS = 0o700


def keep_own_rights() -> None:
    """Files that we make we can open again: ``umask 777`` would take that right from ourselves.
    What others may do stays as the mask has it."""
    mask = os.umask(0o077)
    os.umask(mask & ~_OWN_RIGHTS)


def has_no_working_directory() -> bool:
    """Whether the working directory has been removed; no path from there leads anywhere."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def no_working_directory() -> ArgumentError:
    return ArgumentError(
        "the working directory has been removed", hint="cd to a directory that exists"
    )


def refuse_other_encodings(words: Iterable[str]) -> None:
    """Raises `ArgumentError` for a word that is not UTF-8: names go into the record, the reports
    and the engine as text."""
    for word in words:
        if shown := shown_if_not_utf8(word):
            raise ArgumentError(
                f"expected words in UTF-8, found {shown}",
                hint="rename the file or folder, or give it a symbolic link with a name in UTF-8",
            )
