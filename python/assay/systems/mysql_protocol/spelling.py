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

from assay.contracts.systems.abilities import Spelled
from assay.systems.mysql_protocol.meaning import argument
from assay.systems.mysql_protocol.names import plain_name
from assay.systems.mysql_protocol.product import Product, Programs
from assay.systems.mysql_protocol.server import CHOSEN_BY_ASSAY

_NO_DEFAULTS = frozenset({"max_connections", "open_files_limit", "table_open_cache", "tmpdir"})
"""Which Assay chooses by the run, or the server by the number of clients."""
_NOTHING = "(No default value)"
_TRUTH = {"TRUE": "ON", "FALSE": "OFF"}
_LARGE = (("G", 1 << 30), ("M", 1 << 20))
_LONGEST_S = 60
"""Of one call of the program."""
_LINE = re.compile(r"^([a-z][\w-]*) +(.*)$", re.MULTILINE)


def spelled(product: Product, programs: Programs, settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting, in their order; one of which the program says nothing as it was given."""
    asked = {plain_name(name): value.strip() for name, value in settings.items()}
    base = (programs.server, "--no-defaults", *programs.base_arguments, *product.server_arguments())
    ours = {**CHOSEN_BY_ASSAY, **product.settings_of_assay}
    for (plain, value), name in zip(asked.items(), settings, strict=True):
        chosen = [argument(one, of_one) for one, of_one in ours.items() if one != plain]
        read = _table((*map(str, base), *chosen, argument(plain, value))).get(plain, _NOTHING)
        if read == _NOTHING:
            yield Spelled(name, settings[name], is_default=False)
            continue
        defaults = _table((*map(str, base), *(argument(*one) for one in ours.items())))
        is_variable = plain in _NO_DEFAULTS or plain in product.settings_in_a_group
        is_default = read == defaults.get(plain) and not is_variable
        yield Spelled(plain, _shown(read), is_default)


@functools.cache
def _table(command: tuple[str, ...]) -> Mapping[str, str]:
    """The table at the end of the help; empty where the program refuses what it was given, or does
    not answer."""
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
        return MappingProxyType({})
    if printed.returncode != 0:
        return MappingProxyType({})
    _, _, table = printed.stdout.partition("\n----")
    return MappingProxyType({plain_name(name): value for name, value in _LINE.findall(table)})


def _shown(value: str) -> str:
    """A large number as people ask for it, with the letter that the server takes."""
    if value.isdecimal():
        for letter, factor in _LARGE:
            if int(value) and int(value) % factor == 0:
                return f"{int(value) // factor}{letter}"
    return _TRUTH.get(value, value)
