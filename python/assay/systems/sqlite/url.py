"""Takes ``sqlite:///file``; returns the path of the file."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import unquote

from assay import server_url
from assay.errors import ArgumentError
from assay.files import paths

SCHEMES = ("sqlite", "sqlite3")


def file_of(url: str) -> Path:
    """The file of ``sqlite:///relative/path`` or ``sqlite:////absolute/path``, as the database
    libraries of Python have it. It must be there: we make no files outside our own directories.

    Raises `ArgumentError`.
    """
    parts = server_url.parts(url)
    shown = server_url.without_password(url)
    if parts.host or parts.port or parts.has_user or parts.query or not parts.path.strip("/"):
        raise ArgumentError(
            f"{shown}: expected {SCHEMES[0]}:///relative/path or {SCHEMES[0]}:////absolute/path"
        )
    path = Path(unquote(parts.path.removeprefix("/")))
    if not paths.is_file(path):
        raise ArgumentError(f"{shown}: there is no {_missing(path)}", hint=_fix(path))
    return path.resolve()


def _missing(path: Path) -> str:
    return f"file {path}" if paths.is_folder(path.parent) else f"folder {path.parent}"


def _fix(path: Path) -> str:
    absolute = Path("/") / path
    four = f"an absolute path has four slashes: {SCHEMES[0]}:///{absolute}"
    if path.is_absolute() or not paths.is_folder(absolute.parent):
        make = f'sqlite3 {shlex.quote(str(path))} "VACUUM"'
        if not paths.is_folder(path.parent):
            make = f"mkdir -p {shlex.quote(str(path.parent))} && {make}"
        return f"make it with: {make}" + ("" if path.is_absolute() else f"; {four}")
    return four
