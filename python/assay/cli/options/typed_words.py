"""Keeps the words of a command as they were typed, in click's context, and gives them back;
returns what an option of another tool is called here (`other_tools.toml`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import click
import msgspec

_WORDS = "assay.words"


def keep_words(context: click.Context, words: Sequence[str]) -> None:
    context.meta[_WORDS] = tuple(words)


def typed_words(context: click.Context) -> tuple[str, ...]:
    words: tuple[str, ...] = context.meta.get(_WORDS, ())
    return words


_FILE = Path(__file__).with_name("other_tools.toml")


class OtherOption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    names: tuple[str, ...]
    """As they are typed there; ``*`` stands for any characters."""
    here: str
    """What is meant by it here, after ``it is``."""
    beside: str = "--script"
    """The answer holds for commands that have this option."""


@cache
def other_options() -> tuple[OtherOption, ...]:
    import tomllib  # here: only a mistake is looked up

    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return msgspec.convert(content["option"], tuple[OtherOption, ...])


def meaning_of_option(name: str, options: Collection[str]) -> str | None:
    """``pgbench's --rate is --offered-rate``; ``options``: those of the command. None: no tool has
    it, or the answer is not for this command."""
    for one in other_options():
        if one.beside in options and any(fnmatchcase(name, other) for other in one.names):
            return f"{one.tool}'s {name} is {one.here}"
    return None
