"""Takes the arguments of `bibtosql` and `bibsql`; returns their options, spelled as those allow.

An option has one or two leading hyphens and may be cut to any leading part that is unique. Options
of the original programs keep their short forms: where one of them and a new one begin alike,
theirs is meant (``-s`` is ``--server``). Where the client gets what is unknown, its single letters
come before its own: with anything beside it, ``-h`` is the client's host and no ``--help``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from assay.errors import ArgumentError
from assay.text.nearest import did_you_mean


class Option(Struct, frozen=True):
    name: str
    help: str
    value: str = ""
    """What its value is called; empty: it has none."""
    is_original: bool = True
    """An option of Beebe's program."""
    destroys: bool = False
    """It deletes or replaces something: never suggested for a mistyped word."""


class Parsed(Struct, frozen=True):
    """What the arguments say."""

    given: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    """Everything else in its order: files, or what is for another program."""

    def last(self, name: str) -> str | None:
        """The value given last, which is never empty; None where there is none."""
        return self.values[name][-1] if name in self.values else None

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])


def parse(arguments: Sequence[str], options: Sequence[Option], *, pass_unknown: bool) -> Parsed:
    """Sorts the arguments. What follows ``--`` is rest.

    An unknown option is rest as well where ``pass_unknown``, else an `ArgumentError`. Then a single
    letter is kept only for an option of the original, and for one that prints something only
    where it is the only argument.
    """
    parsed = Parsed()
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            parsed.rest.extend(left)
            break
        if word == "-" or not word.startswith("-"):
            parsed.rest.append(word)
            continue
        name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        option = _find(name, word, options)
        if option is not None and pass_unknown and len(word.partition("=")[0]) == len("-h"):
            is_ours = option.is_original and (bool(option.value) or len(arguments) == 1)
            option = option if is_ours else None
        if option is None and not pass_unknown:
            raise ArgumentError(
                f"unknown option {word}",
                hint=did_you_mean(name, [known.name for known in options if not known.destroys]),
            )
        if option is None:
            parsed.rest.append(word)
        elif not option.value:
            if equals:
                raise ArgumentError(f"--{option.name} takes no value, found {value!r}")
            parsed.given.add(option.name)
        else:
            if not equals:
                if not left:
                    raise ArgumentError(
                        f"--{option.name} needs a value", hint=f"--{option.name} {option.value}"
                    )
                value = left.pop(0)
            if not value:
                raise ArgumentError(
                    f"--{option.name} has an empty value", hint=f"--{option.name} {option.value}"
                )
            parsed.values.setdefault(option.name, []).append(value)
    return parsed


def _find(name: str, word: str, options: Sequence[Option]) -> Option | None:
    """The option that ``name`` is, or begins. None: no option begins so."""
    matching = [option for option in options if name and option.name.startswith(name)]
    exact = [option for option in matching if option.name == name]
    for candidates in (exact, [option for option in matching if option.is_original], matching):
        if len(candidates) == 1:
            return candidates[0]
    if matching:
        raise ArgumentError(
            f"{word} may mean {' or '.join('--' + option.name for option in matching)}",
            hint="give one more letter",
        )
    return None


def help_text(usage: str, what: str, options: Iterable[Option], examples: str) -> str:
    """The help in 80 columns: usage, what the program does, its options, examples."""
    lines = [
        f"Usage: {usage}",
        "",
        what,
        "",
        "Options (one or two hyphens; names may be abbreviated):",
    ]
    for option in options:
        left = f"  --{option.name} {option.value}".rstrip()
        indent = " " * 22
        words = option.help.split()
        line = left.ljust(21)
        if len(left) > 20:
            lines.append(left)
            line = indent[:-1]
        for word in words:
            if len(line) + 1 + len(word) > 79:
                lines.append(line)
                line = indent[:-1]
            line += f" {word}"
        lines.append(line)
    return "\n".join([*lines, "", "Example:", examples])
