"""Takes settings as they were asked for; returns each as the server's own program reads it, in one
spelling (``131072K`` is ``128M``, ``true`` is ``ON``), and whether it is what Assay's servers have.

With ``--verbose --help`` the program prints what it would run with, and starts no server.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from assay.contracts.systems.abilities import Spelled
from assay.errors import ArgumentError
from assay.systems.mysql_protocol.meaning import argument, is_altered, is_less, switch
from assay.systems.mysql_protocol.names import plain_name
from assay.systems.mysql_protocol.product import Product, Programs
from assay.systems.mysql_protocol.server import CHOSEN_BY_ASSAY

_NO_DEFAULTS = frozenset({"max_connections", "open_files_limit", "table_open_cache", "tmpdir"})
"""Which Assay chooses by the run, or the server by the number of clients."""
_BY_OPEN_FILES = frozenset({"max_connections", "open_files_limit", "table_open_cache"})
"""Which the server lowers where it may open too few."""
_NOTHING = "(No default value)"
_TRUTH = {"TRUE": "ON", "FALSE": "OFF"}
_LARGE = (("G", 1 << 30), ("M", 1 << 20))
_LONGEST_S = 60
"""Of one call of the program."""
_LOGGED = re.compile(r"\[(?:ERROR|Warning)\] (?:\[[^\]]*\] )*(?:Buffered warning: )?(.*)")
_OF_A_VALUE = re.compile(
    r"Unknown suffix|Error while setting value|invalid value|adjusted to|(?:not|n't) recognized"
)
_LINE = re.compile(r"^([a-z][\w-]*) +(.*)$", re.MULTILINE)


class _Said(NamedTuple):
    """By the program, of what it was given."""

    table: Mapping[str, str]
    """What it would run with; empty where it refuses it, or does not answer."""
    complaints: tuple[str, ...] = ()
    """Of values that it refuses, or would not use as they are. It succeeds nevertheless where the
    option is one of a plugin."""

    def value(self, plain: str) -> str | None:
        found = self.table.get(plain, _NOTHING)
        return None if found == _NOTHING else found


def spelled(product: Product, programs: Programs, settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting, in their order; one of which the program says nothing, or that it would not use
    as it is, as it was given."""
    asked = {plain_name(name): value.strip() for name, value in settings.items()}
    for (plain, value), name in zip(asked.items(), settings, strict=True):
        said = _given(product, programs, plain, value)
        read = said.value(plain)
        switched = switch(plain, value)
        if switched == "OFF" and said.table:
            yield Spelled(plain, switched, is_default=False)
            continue
        if read is None or _why_not(plain, value, said):
            yield Spelled(name, settings[name], is_default=False)
            continue
        defaults = _said((*_base(product, programs), *_ours(product)))
        is_variable = plain in _NO_DEFAULTS or plain in product.settings_in_a_group
        is_default = read == defaults.table.get(plain) and not is_variable
        yield Spelled(plain, switched or _shown(read), is_default)


def refuse_altered(product: Product, programs: Programs, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that the server would run with another value of, in the
    program's own words where it has any. What depends on the files that it may open is left to the
    server that runs."""
    for name, value in settings.items():
        plain = plain_name(name)
        said = _given(product, programs, plain, value.strip())
        why = _why_not(plain, value.strip(), said)
        if why and not (plain in _BY_OPEN_FILES and is_less(said.value(plain) or "", value)):
            raise ArgumentError(
                f"{product.title} refuses a setting: {why}", hint=f"it was given {name}={value}"
            )


def _why_not(plain: str, asked: str, said: _Said) -> str | None:
    """Why the value would not be in effect as it was asked for; None: it would, or nothing is
    known."""
    read = said.value(plain)
    own = [words for words in said.complaints if plain in plain_name(words)]
    if own:
        return "; ".join(dict.fromkeys(own))
    if read is not None and is_altered(asked, read):
        return f"{plain} was asked as {asked!r} and would be {_shown(read)!r}"
    return None


def _given(product: Product, programs: Programs, plain: str, value: str) -> _Said:
    return _said((*_base(product, programs), *_ours(product, plain), argument(plain, value)))


def _base(product: Product, programs: Programs) -> tuple[str, ...]:
    given = (programs.server, "--no-defaults", *programs.base_arguments)
    return (*map(str, given), *product.server_arguments())


def _ours(product: Product, asked: str = "") -> tuple[str, ...]:
    """What Assay chooses itself, but for the setting that was asked for."""
    ours = {**CHOSEN_BY_ASSAY, **product.settings_of_assay}
    return tuple(argument(name, value) for name, value in ours.items() if name != asked)


@functools.cache
def _said(command: tuple[str, ...]) -> _Said:
    """What stands in the table at the end of the help, and in the log."""
    try:
        printed = subprocess.run(
            [*command, "--verbose", "--help"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST_S,
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        return _Said(MappingProxyType({}))
    complaints = (one for one in _LOGGED.findall(printed.stderr) if _OF_A_VALUE.search(one))
    if printed.returncode != 0:
        return _Said(MappingProxyType({}), tuple(complaints))
    _, _, table = printed.stdout.partition("\n----")
    values = {plain_name(name): value for name, value in _LINE.findall(table)}
    return _Said(MappingProxyType(values), tuple(complaints))


def _shown(value: str) -> str:
    """A large number as people ask for it, with the letter that the server takes."""
    if value.isdecimal():
        for letter, factor in _LARGE:
            if int(value) and int(value) % factor == 0:
                return f"{int(value) // factor}{letter}"
    return _TRUTH.get(value, value)
