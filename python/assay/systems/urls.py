"""Takes a server's URL; returns its parts decoded, each with its origin, for a system to say what
they mean to it."""

from __future__ import annotations

import getpass
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from msgspec import structs

from assay import _engine, env_vars
from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.contracts.server_url import Parts
from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.text import paths
from assay.text.phrases import nearest
from assay.text.terminal import shortened


@dataclass(frozen=True)
class ServerUrl:
    """``scheme://user:password@host:port/database?parameter=value&…``; an empty word where the URL
    says nothing."""

    user: str
    password: str | None = field(repr=False)
    host: str
    """In its own letter case: a system may take the path of a socket's folder for it. Of several
    servers all, with commas."""
    ports: tuple[int | None, ...]
    """Of each server; None: not given."""
    database: str
    parameters: Mapping[str, str]

    @property
    def port(self) -> int | None:
        """Of the first server."""
        return self.ports[0]


def meaning(given: Sourced, parameter: str, meanings: Mapping[str, str], default: str) -> str:
    """What the parameter's word means; raises `ArgumentError` for one without a meaning."""
    word = given.get(parameter) or default
    if word.lower() not in meanings:
        raise ArgumentError(f"{given.spelled(parameter)}: expected one of {', '.join(meanings)}")
    return meanings[word.lower()]


def driver_option(
    given: Sourced, parameter: str, driver: str, *, option: str | None = None
) -> str | None:
    """The value of a parameter that is an option of the driver, there called ``option``; raises
    `ArgumentError` for one that the driver cannot take."""
    value = given.get(parameter)
    if value is None:
        return None
    expected = _engine.expected_of_option(driver, option or parameter, value)
    if expected is not None:
        raise ArgumentError(f"{given.spelled(parameter)}: expected {expected}")
    return value


def port(given: Sourced, default: int) -> int:
    """The port; raises `ArgumentError` for what is none."""
    text = given.get("port") or str(default)
    if not (text.isdecimal() and text.isascii() and 0 < int(text) < 65536):
        raise ArgumentError(f"{given.spelled('port')}: expected a number from 1 to 65535")
    return int(text)


def seconds(given: Sourced, name: str, default: float) -> float:
    """A number of seconds; 0 and less mean without end, as clients have it, which is a day here."""
    text = given.get(name)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ArgumentError(f"{given.spelled(name)}: expected a whole number of seconds") from None
    return float(value) if value > 0 else 86_400.0


def readable_file(given: Sourced, name: str) -> str | None:
    """The path of a file that is there; raises `ArgumentError` where it is not."""
    path = given.get(name)
    if path is None:
        return None
    if not paths.is_file(Path(path)):
        raise ArgumentError(f"{given.spelled(name)}: there is no such file")
    if not os.access(path, os.R_OK):
        raise ArgumentError(f"{given.spelled(name)}: the file cannot be read")
    return path


def with_origins(address: Address, origins: Mapping[str, str]) -> Address:
    """The address of a URL that was completed before, with the origins that were found then."""
    return structs.replace(address, origins={**address.origins, **origins}) if origins else address


def is_open_to_others(path: Path) -> bool:
    """Whether users other than the owner can read or write the file, which may hold a secret. A
    group may read what belongs to root: that is how a machine shares a key."""
    found = path.stat()
    closed = stat.S_IRWXO | (stat.S_IWGRP if found.st_uid == 0 else stat.S_IRWXG)
    return bool(found.st_mode & closed)


def shown(path: Path) -> str:
    """The path as a person writes it: ``~/.my.cnf``."""
    home = env_vars.home()
    if home is not None and path.is_relative_to(home):
        return f"~/{path.relative_to(home)}"
    return str(path)


def own_name(scheme: str) -> str:
    """The name of the user we are, for a URL that holds none. Raises `ArgumentError`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise ArgumentError(
            f"the URL names no user, and user {os.geteuid()} of this machine has no name",
            hint=form(scheme),
        ) from error


def form(scheme: str) -> str:
    """What a URL looks like, for hints."""
    return f"{scheme}://USER@HOST:PORT/DATABASE"


def _nearest(name: str, parameters: Collection[str]) -> str | None:
    near = nearest(name, parameters)
    return f"did you mean {near}=…?" if near else None


def check_ports(url: str, parts: Parts, scheme: str) -> None:
    """Raises `ArgumentError` for the first port of the URL that is none."""
    for _, port in parts.hosts:
        if port and not (port.isdecimal() and port.isascii() and int(port) < 65536):
            # Without an @ before it, it may be a password whose host was left out; with one behind
            # it, the beginning of a password with a /.
            is_behind_user = parts.has_user and "@" not in url.partition(parts.authority)[2]
            may_be_secret = not (is_behind_user and port.isprintable())
            found = "" if may_be_secret else f", found {shortened(port, 40)}"
            raise ArgumentError(
                f"the URL's port: expected a number from 0 to 65535{found}",
                hint=f"{form(scheme)}; {server_url.HINT}",
            )


def read(
    url: str,
    *,
    scheme: str,
    parameters: Collection[str],
    password: EnvVar,
    may_be_several: bool = False,
) -> ServerUrl:
    """The parts of ``url``; ``scheme`` is the one that hints show. ``may_be_several``: whether it
    may name several servers.

    Of ``parameters`` none is a password: the record drops the one before the ``@`` and no other.
    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    parts = server_url.parts(url)
    if not may_be_several:
        server_url.insist_on_one_host(parts)
    ports = [port for _, port in parts.hosts]
    check_ports(url, parts, scheme)
    given = parts.parameters
    if unknown := [name for name in given if name not in parameters]:
        name = unknown[0] if unknown[0].replace("-", "").replace("_", "").isalnum() else "…"
        raise ArgumentError(
            f"the URL's parameter {name!r} is not one of {', '.join(parameters)}",
            hint=f"a password stands before the @, or in {password.name}"
            if unknown[0] == "password"
            else _nearest(name, parameters),
        )
    return ServerUrl(
        user=unquote(parts.user),
        password=unquote(parts.password or "") or None,
        host=unquote(parts.host),
        ports=tuple(int(port) if port else None for port in ports),
        database=unquote(parts.path.removeprefix("/")),
        parameters=given,
    )


URL = "URL"
"""The origin of what stands in the URL itself."""
LOGIN_NAME = "login name"
"""The origin of a user that nothing names."""


class Sourced:
    """Values by the names that the system's own clients have for them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str]] = {}

    def add(self, origin: str, values: Mapping[str, str | None]) -> None:
        """Values that are not known yet; an empty one says nothing. Raises `ArgumentError` for one
        that is no text."""
        for name, value in values.items():
            if value and name not in self._found:
                if paths.shown_if_not_utf8(value) is not None:
                    raise ArgumentError(f"{name} ({origin}): expected UTF-8")
                self._found[name] = (value, origin)

    def with_values(self, values: Mapping[str, str | None]) -> Sourced:
        """A copy in which these names have these values, with their origins; None: no value."""
        made = Sourced()
        for name, (value, origin) in self._found.items():
            made.add(origin, {name: values.get(name, value)})
        return made

    def add_environment(self, variables: Mapping[str, EnvVar]) -> None:
        for name, variable in variables.items():
            self.add(variable.name, {name: variable.get()})

    def get(self, name: str) -> str | None:
        return self._found[name][0] if name in self._found else None

    def origin(self, name: str) -> str | None:
        return self._found[name][1] if name in self._found else None

    def spelled(self, name: str) -> str:
        """For messages: ``port=0 in the URL``, ``port=0 (PGPORT)``."""
        value, origin = self._found[name]
        return f"{name}={value} " + ("in the URL" if origin == URL else f"({origin})")

    def from_elsewhere(self, *names: str) -> dict[str, str]:
        """Those of the names that the URL does not hold."""
        return {
            name: self._found[name][0]
            for name in names
            if name in self._found and self._found[name][1] != URL
        }
