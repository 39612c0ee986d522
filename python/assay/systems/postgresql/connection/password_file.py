"""Takes where a session goes; returns the password that libpq's password file holds for it.

Each line is ``host:port:database:user:password``; ``*`` stands for anything, a colon or backslash
in a field is written with a backslash before it, and the first line that fits counts.
"""

from __future__ import annotations

import re
from pathlib import Path

from assay import env_vars
from assay.env_vars import EnvVar
from assay.systems import urls
from assay.text.files import paths

FILE = EnvVar("PGPASSFILE", "The password file (default: ~/.pgpass).")

_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")
_ESCAPED = re.compile(r"\\(.)")


def find(
    named: str | None, *, host: str, port: int, database: str, user: str
) -> tuple[str | None, str]:
    """The password, or None, and its origin or why there is none. ``host`` is ``localhost`` for the
    socket in its usual folder, else the folder."""
    home = env_vars.home()
    file = Path(named) if named else None if home is None else home / ".pgpass"
    if file is None or not paths.is_file(file):
        return None, "none found"
    if urls.is_open_to_others(file):
        # As libpq does it. The reason stands with the origins of the other values.
        shown = urls.shown(file)
        return None, f"{shown} is not used because others can read it: chmod 600 {shown}"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return None, f"{urls.shown(file)} cannot be read: {error}"
    expected = (host, str(port), database, user)
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        fields, password = _split(line)
        if len(fields) == 4 and all(
            field in ("*", want) for field, want in zip(fields, expected, strict=True)
        ):
            return password, f"{urls.shown(file)}, line {number}"
    return None, f"no line of {urls.shown(file)} fits"


def _split(line: str) -> tuple[list[str], str]:
    """Four fields, and the rest of the line: the password."""
    fields: list[str] = []
    at = 0
    while len(fields) < 4 and (found := _FIELD.match(line, at)) and found.end() < len(line):
        fields.append(_ESCAPED.sub(r"\1", found[1]))
        at = found.end()
    return fields, _ESCAPED.sub(r"\1", line[at:])
