"""Takes the words of a command line; returns the command as a document, by which the experiments of
an experiment file are found again."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from assay.experiment.given import Words
from assay.experiment.settings import split

Patterns = tuple[tuple[str, ...], ...]

_LEFT_OUT = ("target", "only")
"""``--only`` says which of the runs are executed now, and is no part of what is asked."""


def command_of(words: Words) -> dict[str, Any] | None:
    """The file, the current folder (where data and records are, if nothing else is said), and
    the options that were given; None without an experiment file."""
    if not words.target.endswith(".toml"):
        return None
    given = {
        field.name: value
        for field in fields(Words)
        if field.name not in _LEFT_OUT and (value := getattr(words, field.name)) != field.default
    }
    return {"file": str(Path(words.target).resolve()), "folder": str(Path.cwd()), **given}


def patterns(words: Words) -> Patterns:
    """Of each ``--only``, its patterns."""
    return tuple(tuple(split(word)) for word in words.only if word.strip())
