"""Takes a setting as asked and the variables as the server reads them back; says whether it is in
effect, by what the value means and not by its text.

The server itself describes its variables (their kind, and the words of those that are one or some
of a list), so that only what it keeps under another name is listed here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct

from assay.systems.mysql_protocol.names import plain_name

_FACTOR = {letter: 1 << 10 * power for power, letter in enumerate(("", *"kmgtpe"))}
_TRUTH = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}

_NAME_KEPT_IN = {"log_bin": "log_bin_basename"}
"""Variables that are asked with a file's name, and read back as whether there is one."""

_MODES = "ansi db2 maxdb mssql mysql323 mysql40 oracle postgresql traditional"
_MODES_OF_SEVERAL = frozenset(_MODES.split())
"""Words of ``sql_mode`` that stand for several."""


class Described(Struct, frozen=True):
    kind: str
    """``enum``, ``set``, ``flagset``, ``boolean``, ``varchar``, ``bigint unsigned`` …"""
    words: tuple[str, ...]


def argument(name: str, value: str) -> str:
    """``--sort_buffer_size=8M``: a setting as the server's program takes it. Where it expects the
    name of a file, the server would take ON and OFF for one."""
    plain = plain_name(name)
    if plain not in _NAME_KEPT_IN or not _is_truth(value):
        return f"--{plain}={value}"
    return f"--{plain}" if _truth(value) == "1" else f"--skip-{plain}"


def switch(plain: str, value: str) -> str | None:
    """``ON`` or ``OFF`` for a setting that is asked for as a switch and holds a file's name: by
    default the server makes that of the machine's name. None: for another setting or value."""
    if plain not in _NAME_KEPT_IN or not _is_truth(value):
        return None
    return "ON" if _truth(value) == "1" else "OFF"


def is_in_effect(
    name: str, asked: str, reported: Mapping[str, str], described: Mapping[str, Described]
) -> bool:
    """``name`` as `names.plain_name` has it, and among ``found``."""
    effective = reported[name]
    left, right = asked.strip().lower(), effective.strip().lower()
    if name in _NAME_KEPT_IN and left and not _is_truth(left):
        return _is_the_same_file(asked.strip(), reported.get(_NAME_KEPT_IN[name], ""), reported)
    what = described.get(name)
    if what is not None and what.kind in ("set", "flagset") and left != right:
        return _holds_the_same_words(left, right, what)
    if _truth(left) == _truth(right):
        return True
    if what is not None and what.kind == "enum" and left.isdecimal():
        return int(left) < len(what.words) and what.words[int(left)] == right
    first, second = _number(left), _number(right)
    if first is not None:
        return first == second
    if sorted(left.split(",")) == sorted(right.split(",")):
        return True
    return "/" in asked + effective and _path(asked, reported) == _path(effective, reported)


def is_altered(asked: str, read: str) -> bool:
    """Whether a server that was asked for a number, or for a switch to be on or off, has another
    one. Of words nothing is said: the numbers that stand for them are not known here."""
    if read.lower() in ("true", "false"):
        return bool(asked) and _truth(asked) != _truth(read)
    first, second = _number(asked.strip().lower()), _number(read.strip().lower())
    if first is None or second is None:
        return False
    return not math.isclose(first, second, abs_tol=1e-6, rel_tol=1e-12)


def is_less(text: str, other: str) -> bool:
    """Whether both are numbers, and the first one is less."""
    first, second = _number(text.strip().lower()), _number(other.strip().lower())
    return first is not None and second is not None and first < second


def _truth(text: str) -> str:
    """``1`` or ``0`` of a word for them, else the text itself."""
    word = text.strip().lower()
    return _TRUTH.get(word, word)


def _is_truth(text: str) -> bool:
    return _truth(text) in _TRUTH.values()


def _holds_the_same_words(asked: str, effective: str, what: Described) -> bool:
    """Words of a list in any order. Of switches (``mrr=on``) those that were not named stay as
    they were, and a mode that stands for several brings these along."""
    if asked.isdecimal():
        chosen = {word for place, word in enumerate(what.words) if int(asked) >> place & 1}
        return chosen == _words(effective)
    left, right = _words(asked), _words(effective)
    if what.kind == "flagset" or left & _MODES_OF_SEVERAL:
        return {word for word in left if not word.endswith("=default")} <= right
    return left == right


def _words(text: str) -> set[str]:
    return {word.strip() for word in text.split(",") if word.strip()}


def _is_the_same_file(asked: str, kept: str, effective: Mapping[str, str]) -> bool:
    """The server leaves an extension out; one that was asked for without its folder may be in that
    of the logs (``--log-storage``)."""
    if kept and "/" not in asked and PurePath(kept).stem == PurePath(asked).stem:
        return True
    return bool(kept) and _path(asked, effective).with_suffix("") == _path(
        kept, effective
    ).with_suffix("")


def _path(text: str, effective: Mapping[str, str]) -> PurePath:
    return PurePath(effective.get("datadir", "/"), text.strip())


def _number(text: str) -> float | None:
    parts = re.fullmatch(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)([kmgtpe]?)", text)
    return None if parts is None else float(parts[1]) * _FACTOR[parts[2]]
