"""Takes ``sqlite:///file``; gives the path of the file."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from assay import paths, server_url
from assay.errors import ArgumentError

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
        absolute = Path("/") / path
        hint = f'make it with: sqlite3 {path} "VACUUM"'
        if absolute != path and paths.is_file(absolute):
            hint = f"an absolute path has four slashes: {SCHEMES[0]}:///{absolute}"
        raise ArgumentError(f"{shown}: there is no file {path}", hint=hint)
    return path.resolve()
