"""Takes which option files to read; returns the options that MySQL's and MariaDB's clients find.

Which groups count depends on the client; of an option given twice the last one.
See https://mariadb.com/kb/en/configuring-mariadb-with-option-files/.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.errors import ArgumentError
from assay.systems import urls
from assay.text.files import paths

_DEFAULT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
_MOST_INCLUDES = 10
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}
_ESCAPED = re.compile(r"\\([btnrs\\\"'])")


class FileOption(Struct, frozen=True):
    """One line: its name with ``-`` between words, its value (None: none is given), its origin."""

    name: str
    value: str | None
    origin: str


def read(
    names: Sequence[str],
    *,
    only: str | None = None,
    extra: str | None = None,
    suffix: str | None = None,
) -> list[FileOption]:
    """Every option of the groups of these ``names``, in the order of the files.

    ``only`` is read in place of all other files, ``extra`` besides them, ``suffix`` names further
    groups (``[client_suffix]``). Raises `ArgumentError` where a file that was named is missing, or
    a line cannot be read.
    """
    groups = [*names, *(f"{item}{suffix}" for item in names if suffix)]
    return [item for file in _files(only, extra) for item in _options(file, groups, 0)]


def _files(only: str | None, extra: str | None) -> Iterator[Path]:
    if only is not None:
        yield _named("defaults-file", only)
        return
    yield from (Path(file) for file in _DEFAULT_FILES if paths.is_file(Path(file)))
    if extra is not None:
        yield _named("defaults-extra-file", extra)
    home = env_vars.home()
    if home is not None and paths.is_file(home / ".my.cnf"):
        yield home / ".my.cnf"


def _named(parameter: str, path: str) -> Path:
    home = env_vars.home()
    file = home / path[2:] if home is not None and path.startswith("~/") else Path(path)
    if not paths.is_file(file):
        raise ArgumentError(f"{parameter}={path} in the URL: there is no such file")
    return file


def _options(file: Path, groups: Sequence[str], depth: int) -> Iterator[FileOption]:
    if depth > _MOST_INCLUDES:
        raise ArgumentError(f"{file}: option files include each other too deeply")
    group = ""
    for number, line in enumerate(_lines(file), 1):
        if line.startswith("!"):
            for included in _included(file, number, line):
                yield from _options(included, groups, depth + 1)
        elif line.startswith("["):
            group, bracket, _ = line[1:].partition("]")
            if not bracket:
                raise ArgumentError(f"{file}:{number}: the bracket is not closed: {line}")
        elif group in groups:
            name, equals, value = line.partition("=")
            yield FileOption(
                name.strip().replace("_", "-").lower().removeprefix("loose-"),
                _unquoted(value.strip()) if equals else None,
                f"[{group}] in {urls.shown(file)}",
            )


def _lines(file: Path) -> Iterator[str]:
    """Each line without its comment; an empty one where nothing is left, so that they can be
    counted. A file that every user can write is not used, as the clients have it."""
    try:
        if file.stat().st_mode & stat.S_IWOTH:
            return
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        if not os.access(file, os.R_OK):
            return  # the clients pass over it too
        raise ArgumentError(f"{file}: the option file cannot be read: {error}") from error
    for line in text.splitlines():
        stripped = line.strip()
        yield "" if stripped.startswith(("#", ";")) else _without_comment(stripped)


def _without_comment(line: str) -> str:
    quote, is_escaped = "", False
    for at, letter in enumerate(line):
        if letter in "'\"" and not is_escaped:
            quote = "" if quote == letter else quote or letter
        if letter == "#" and not quote:
            return line[:at].rstrip()
        is_escaped = bool(quote) and letter == "\\" and not is_escaped
    return line


def _included(file: Path, number: int, line: str) -> list[Path]:
    word, _, place = line.partition(" ")
    path = file.parent / place.strip()
    if word == "!includedir":
        return (
            sorted(file_path for file_path in path.glob("*.cnf")) if paths.is_folder(path) else []
        )
    if word == "!include":
        return [path] if paths.is_file(path) else []
    raise ArgumentError(f"{file}:{number}: expected !include or !includedir, found {word}")


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], value)
