"""Takes ``SCHEME:///file`` of a system that lives in this process; returns the path of its file."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from assay import server_url
from assay.errors import ArgumentError
from assay.files import paths


def file_of(url: str, scheme: str, making: Callable[[str], str]) -> Path:
    """The file of ``SCHEME:///relative/path`` or ``SCHEME:////absolute/path``, as the database
    libraries of Python have it. It must be there: we make no files outside our own directories.
    ``making`` is the command that makes an empty database of a file's name.

    Raises `ArgumentError`.
    """
    parts = server_url.parts(url)
    shown = server_url.without_password(url)
    if parts.host or parts.port or parts.has_user or parts.query or not parts.path.strip("/"):
        raise ArgumentError(
            f"{shown}: expected {scheme}:///relative/path or {scheme}:////absolute/path"
        )
    path = Path(unquote(parts.path.removeprefix("/")))
    if not paths.is_file(path):
        raise ArgumentError(
            f"{shown}: there is no {_missing(path)}", hint=_fix(path, scheme, making)
        )
    return path.resolve()


def _missing(path: Path) -> str:
    return f"file {path}" if paths.is_folder(path.parent) else f"folder {path.parent}"


def _fix(path: Path, scheme: str, making: Callable[[str], str]) -> str:
    absolute = Path("/") / path
    four = f"an absolute path has four slashes: {scheme}:///{absolute}"
    if path.is_absolute() or not paths.is_folder(absolute.parent):
        make = making(str(path))
        if not paths.is_folder(path.parent):
            make = f"mkdir -p {shlex.quote(str(path.parent))} && {make}"
        return f"make it with: {make}" + ("" if path.is_absolute() else f"; {four}")
    return four
