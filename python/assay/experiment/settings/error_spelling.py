"""Takes an error that names options of the command line; makes it name what the person wrote: the
arguments of `assay.run`, or the keys of an experiment file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields

from assay import registry
from assay.errors import AssayError
from assay.experiment.choices import checked_choices
from assay.experiment.choices.server_limits import NOT_LIMITED
from assay.experiment.settings.catalogue import OPTIONS, Words
from assay.experiment.settings.setting import Setting
from assay.experiment.settings.value_kinds import Choice, Levels, Text

_MENTION = re.compile(
    r"`[^`]*`"  # a command as a whole is typed in a shell, in any case
    r"|\bassay [a-z-]+ [^;`\n]*"
    r"|(?<![\w-])--(?P<name>[a-z][a-z-]*)"
    r"(?: (?P<value>'[^']*'|(?:\"[^\"]*\"|[^\s;)\"])*(?:\"[^\"]*\"|[^\s;:,.)\"])))?"
)
_VALUE = re.compile(r"'.*'|.*[0-9=\[\]:/*,…].*|\w+\.\w+|[A-Z_]+")
"""What follows an option and is no word of the sentence."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?|…|N|R|S|VALUE")
"""A number, or what stands for one or any."""
_IS_WISHED = re.compile(r"(?:^|: )--[a-z-]+$")
"""A hint that ends with a flag, which is to be given."""


@contextmanager
def as_written(words: Words, *, in_python: bool = False) -> Iterator[None]:
    """Errors raised inside name each option as the person wrote it: what was not given on the
    command line (``in_python``: to `assay.run`) is in the experiment file, if there is one."""
    given = {one.name for one in fields(Words) if getattr(words, one.name) != one.default}
    has_file = words.target.endswith(".toml")

    def spelling(name: Setting, value: str | None, is_wished: bool) -> str | None:
        if has_file and name.path is not None and name.argument not in given:
            return of_file(name, value, is_wished)
        return of_python(name, value, is_wished) if in_python else None

    try:
        yield
    except AssayError as error:
        respell(error, spelling)
        raise


def respell(error: AssayError, spelling: Callable[[Setting, str | None, bool], str | None]) -> None:
    """Changes the message and the hint."""
    error.message = respelled(error.message, spelling)
    error.hint = None if error.hint is None else respelled(error.hint, spelling)
    error.args = (error.message,)


def respelled(text: str, spelling: Callable[[Setting, str | None, bool], str | None]) -> str:
    """The text with each option as ``spelling`` has it; None: as it is."""

    def replaced(match: re.Match[str]) -> str:
        name = _named(match["name"])
        if name is None:
            return match[0]
        value = match["value"]
        is_value = value is not None and not name.is_flag and _is_value(name, value)
        is_wished = name.is_flag and bool(_IS_WISHED.search(text[: match.end("name")]))
        is_wished = is_wished and match.end() == len(text)
        said = spelling(name, value if is_value else None, is_wished)
        if said is None:
            return match[0]
        return said if is_value or value is None else f"{said} {value}"

    return _MENTION.sub(replaced, text)


def of_python(name: Setting, value: str | None, is_wished: bool) -> str:
    """``duration_s=30``, ``memory=["8GB", "1GB"]``, ``set={"scale": 10}``, ``erase=True``."""
    if value is None:
        return f"{name.argument}=True" if is_wished else name.argument
    if name.word == "set":
        key, levels = _setting(value)
        return f"set={{{json.dumps(key)}: {_listed(levels)}}}"
    if name.word == "clients" and "=" in value:
        groups = [f"{json.dumps(group)}: {_listed(of)}" for group, of in _groups(value)]
        return f"clients={{{', '.join(groups)}}}"
    return f"{name.argument}={_listed(_values(name, value))}"


def of_file(name: Setting, value: str | None, _is_wished: bool) -> str | None:
    """``drive.duration_s = 30``, ``memory = ["8GB", "1GB"]``, ``parameters.scale = 10``; None: a
    file cannot say it."""
    if name.path is None:
        return None
    if value is None:
        return name.path
    if name.word == "set":
        key, levels = _setting(value)
        return f"{'system' if '.' in key else name.path}.{key} = {_listed(levels)}"
    if name.word == "clients" and "=" in value:
        groups = [f"{group} = {_listed(of)}" for group, of in _groups(value)]
        return f"clients = {{ {', '.join(groups)} }}"
    return f"{name.path} = {_listed(_values(name, value))}"


def _named(word: str | None) -> Setting | None:
    """The option of that name."""
    return None if word is None else OPTIONS.get(word.replace("-", "_"))


def _is_value(name: Setting, word: str) -> bool:
    return _VALUE.fullmatch(word) is not None or word in _words(name)


def _words(name: Setting) -> Iterable[str]:
    """The words that an option takes as a value."""
    if name.word == "on":
        return registry.systems()
    if name.word == "storage":
        return registry.storages()
    match name.kind:
        case Choice(levels=words) | Text(words=words):
            return words
        case Levels(of=tuple() as words):
            return words
        case Levels(may_be_none=True):
            return (NOT_LIMITED,)
    return ()


def _values(name: Setting, value: str) -> list[str]:
    plain = value.strip("'")
    if name.per_second != 1 and _NUMBER.fullmatch(plain):
        return [f"{float(plain) / name.per_second:.12g}"]
    if isinstance(name.kind, Levels):
        return [word.strip() for word in name.kind.split(plain)]
    return checked_choices.split(plain) if name.is_listed else [plain]


def _setting(value: str) -> tuple[str, list[str]]:
    key, _, levels = value.strip("'").partition("=")
    return key, [level.strip('"') for level in checked_choices.split(levels)]


def _groups(value: str) -> list[tuple[str, list[str]]]:
    """``readers=4,8,writers=2`` by group; ``…`` at its end stands for the other groups."""
    groups: list[tuple[str, list[str]]] = []
    for word in checked_choices.split(value.strip("'")):
        group, equals, level = word.partition("=")
        if equals:
            groups.append((group, [level]))
        elif groups:
            groups[-1][1].append(word)
    return groups


def _listed(values: list[str]) -> str:
    words = [
        value if _NUMBER.fullmatch(value) else json.dumps(value, ensure_ascii=False)
        for value in values
    ]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"
