"""Takes the name of a service; returns the values that libpq's service files hold for it.

`pg_service.conf` has a section for each service, with a line ``name=value`` for each parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from assay import env_vars
from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.systems import urls
from assay.text.files import paths

FILE = EnvVar("PGSERVICEFILE", "The file of services (default: ~/.pg_service.conf).")
FOLDER = EnvVar("PGSYSCONFDIR", "The folder of the service file for all users, pg_service.conf.")
_FOLDERS = ("/etc/postgresql-common", "/etc")


def read(service: str) -> tuple[str, Mapping[str, str]]:
    """The origin of the values, and the values by libpq's names.

    Raises `ArgumentError` where no file has the service, or a line cannot be read.
    """
    files = list(_files())
    for file in files:
        if (values := _section(file, service)) is not None:
            return f"service {service} in {urls.shown(file)}", values
    looked = ", ".join(urls.shown(file) for file in files) or "~/.pg_service.conf"
    raise ArgumentError(
        f"there is no service {service!r} in {looked}",
        hint=f"a section [{service}] with lines host=…, port=…, dbname=…, or another file in "
        f"{FILE.name}",
    )


def _files() -> Iterator[Path]:
    """Those that exist, the user's own first."""
    home = env_vars.home()
    named = FILE.get()
    if named is not None:
        if not paths.is_file(Path(named)):
            raise ArgumentError(f"{FILE.name}={named}: there is no such file")
        yield Path(named)
    elif home is not None and paths.is_file(home / ".pg_service.conf"):
        yield home / ".pg_service.conf"
    folder = FOLDER.get()
    for place in [folder] if folder else _FOLDERS:
        if paths.is_file(Path(place) / "pg_service.conf"):
            yield Path(place) / "pg_service.conf"


def _section(file: Path, service: str) -> Mapping[str, str] | None:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{file}: the file of services cannot be read: {error}") from error
    values: dict[str, str] | None = None
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            if values is not None:
                break
            if line == f"[{service}]":
                values = {}
        elif values is not None:
            name, equals, value = line.partition("=")
            if not equals:
                raise ArgumentError(f"{file}:{number}: expected name=value in [{service}]")
            values.setdefault(name.strip(), value.strip())
    return values
