"""A system that is up on a storage: where it listens, what it is, and what it was really given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Address:
    """How the engine reaches a system. A password never leaves this value (see `for_record`)."""

    driver: str
    unix: str | None = None
    """Path of a Unix socket."""
    host: str | None = None
    port: int | None = None
    file: str | None = None
    """A database file, for systems that live in this process."""
    user: str = ""
    password: str | None = field(default=None, repr=False)
    database: str = ""
    tls: str = "off"
    """``off``, ``prefer``, ``require`` (not verified) or ``verify``."""
    ca_file: str | None = None
    session_statements: tuple[str, ...] = ()
    """What each new session runs first."""
    connect_timeout_s: float = 30.0
    answer_timeout_s: float | None = None
    """How long a session outside the measurement waits for one answer; None: without end."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The driver's own (the null driver's delays)."""

    def for_engine(self) -> dict[str, Any]:
        """The document the engine takes; holds the password."""
        return {
            "driver": self.driver,
            "unix": self.unix,
            "host": self.host,
            "port": self.port,
            "file": self.file,
            "user": self.user,
            "password": self.password,
            "database": self.database,
            "tls": self.tls,
            "ca_file": self.ca_file,
            "session_statements": list(self.session_statements),
            "connect_timeout_s": self.connect_timeout_s,
            "answer_timeout_s": self.answer_timeout_s,
            "options": dict(self.options),
        }

    def for_record(self) -> dict[str, Any]:
        """The same without the password."""
        return {
            name: None if name == "password" else value
            for name, value in self.for_engine().items()
            if name != "answer_timeout_s"
        }


@dataclass(frozen=True)
class StorageFacts:
    """What the data directory lives on, as found."""

    name: str
    kind: str
    directory: str
    file_system: str = ""
    device: str = ""
    mount_options: str = ""
    size_bytes: int = 0
    free_bytes: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Deployment:
    """A system brought up on a storage."""

    system: str
    """Name in the registry."""
    label: str
    """As the report names it (`SystemChoice.label`)."""
    address: Address
    version: str
    storage: StorageFacts
    options: Mapping[str, str]
    """The system's own options as used (``engine``), defaults filled in."""
    settings_asked: Mapping[str, str]
    settings: Mapping[str, str]
    """*Effective* settings, read back from the server."""
    settings_confirmed: tuple[str, ...] = field(default=(), kw_only=True)
    """Names of the settings asked that the system found in effect, by what their values mean."""
    settings_unknown: str = field(default="", kw_only=True)
    """Why the settings cannot be read (another program that speaks the protocol); empty: they
    are."""
    connection_limit: int | None
    """None: the system has none."""
    server_pid: int | None = None
    """The server's first process; None: in this process, or not ours (a URL)."""
    data_directory: Path | None = None
    is_private: bool = True
    """We made it and will take it down; False: reached by URL."""
    durability_lowered_by: tuple[str, ...] = ()
    """Effective settings with which an acknowledged commit can be lost, in the system's own words
    (``fsync = off``); empty: the system knows of none."""
