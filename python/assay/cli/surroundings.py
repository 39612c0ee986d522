"""Checks what the process inherits: its umask, its working directory, and the encoding of its
arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable

from assay.errors import ArgumentError
from assay.files.text_file import shown_if_not_utf8

_OWN_RIGHTS = 0o700


def keep_own_rights() -> None:
    """Clears the owner's bits of the umask: with ``umask 777`` Assay could not open its own files.
    The bits of group and others stay."""
    mask = os.umask(0o077)
    os.umask(mask & ~_OWN_RIGHTS)


def has_no_working_directory() -> bool:
    """Whether the working directory has been removed, so that relative paths do not resolve."""
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
    """Raises `ArgumentError` for an argument that is not UTF-8: records, reports and the engine
    hold names as text."""
    for word in words:
        if shown := shown_if_not_utf8(word):
            raise ArgumentError(
                f"expected arguments in UTF-8, found {shown}",
                hint="rename the file or folder, or give it a symbolic link with a name in UTF-8",
            )
