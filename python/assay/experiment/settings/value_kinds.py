"""What the value of a setting can be, for each place in which it is written to read it so: the
command line (`assay.cli.options.setting_options`), Python (`assay.api.asked`) and experiment files
(`assay.experiment.settings.levels`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from assay import registry
from assay.contracts.factors import NOT_LIMITED, Scalar
from assay.errors import ArgumentError
from assay.text.mentions import Mention, phrase
from assay.text.quantities import Duration, Quantity


class NumberOf(Struct, frozen=True):
    quantity: Quantity
    of_option: Duration | None = None
    """On the command line, where its unit there is another one."""


class Choice(Struct, frozen=True):
    """One of these words."""

    levels: tuple[str, ...]


class Flag(Struct, frozen=True):
    destroys: bool = False
    """Whether it allows something to be erased or replaced."""


class Text(Struct, frozen=True):
    words: tuple[str, ...] = ()
    """Those that it may be as a whole."""


class FileName(Struct, frozen=True):
    pass


class NameList(Struct, frozen=True):
    """One name or several; the option may be repeated, and its commas separate names."""


class FileNames(Struct, frozen=True):
    """One file or several; the option may be repeated."""


class Assignments(Struct, frozen=True):
    """Names with their values: ``KEY=VALUE,…``; the option may be repeated."""


class Levels(Struct, frozen=True):
    """One word or number, or several, each of which is measured."""

    of: Quantity | tuple[str, ...]
    what: str = "value"
    """A level, in a message about one that is not known."""
    may_be_none: bool = False
    """Whether ``none`` is one: not limited."""
    example: str = ""
    """Some of them, as a hint shows them; empty: no hint does."""
    may_be_of_groups: bool = False
    """Whether each group of clients may have its own."""

    def split(self, words: str) -> list[str]:
        """Each of them, of what a command line has in one word."""
        return words.split(",") if isinstance(self.of, tuple) else self.of.split(words)

    def read(self, option: str, words: Iterable[str]) -> tuple[Scalar | None, ...]:
        """From each word; None: not limited. Raises `ArgumentError`."""
        if isinstance(self.of, tuple):
            return tuple(_known(self.of, option, self.what, words))
        of = self.of
        return tuple(self._number(option, of, word) for word in words)

    def _number(self, option: str, of: Quantity, word: str) -> Scalar | None:
        if self.may_be_none and word.strip() == NOT_LIMITED:
            return None
        try:
            return of.of_word(word)
        except ValueError as error:
            message = str(error)
            if self.may_be_none:
                message = message.replace("expected ", f"expected {NOT_LIMITED} or ", 1)
            hint = phrase("{}", Mention(option, self.example)) if self.example else None
            raise ArgumentError(phrase("{}: {}", Mention(option), message), hint=hint) from None


def _known(known: Sequence[str], option: str, what: str, words: Iterable[str]) -> Iterator[str]:
    """These words, at least one, each of which is known."""
    for word in [word.strip() for word in words] or [""]:
        if not word:
            raise ArgumentError(
                phrase("{}: expected a {}, found nothing", Mention(option), what),
                hint=f"known: {', '.join(known)}",
            )
        if word not in known:
            raise registry.unknown(what, word, known)
        yield word


Kind = NumberOf | Choice | Flag | Text | FileName | NameList | FileNames | Assignments | Levels
