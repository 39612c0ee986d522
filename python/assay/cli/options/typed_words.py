"""Keeps the words of a command as they were typed, in click's context; gives them back."""

from __future__ import annotations

from collections.abc import Sequence

import click

_WORDS = "assay.words"


def keep_words(context: click.Context, words: Sequence[str]) -> None:
    context.meta[_WORDS] = tuple(words)


def typed_words(context: click.Context) -> tuple[str, ...]:
    words: tuple[str, ...] = context.meta.get(_WORDS, ())
    return words
