"""What is asked, as frozen values: systems, storages, and the question that varies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

Scalar = str | int | float | bool


@dataclass(frozen=True)
class SystemChoice:
    """A system under test as asked for: a name of the registry, or a URL of a server that runs.

    ``settings`` are the server's own settings (``shared_buffers``); ``options`` are ours and
    declared by the system (``engine`` where tables can live in several storage engines).
    """

    name: str
    url: str | None = field(default=None, repr=False)
    """May hold a password; see `url_without_password`."""
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Tells two choices of the same system apart in a report: ``name option=level``."""
        words = [
            f"{key}={value}" for key, value in sorted({**self.options, **self.settings}.items())
        ]
        place = [f"at {urlsplit(self.url).hostname or self.url}"] if self.url else []
        return " ".join([self.name, *place, *words])

    @property
    def url_without_password(self) -> str | None:
        """The URL as it may be printed, recorded and fingerprinted."""
        if self.url is None:
            return None
        parts = urlsplit(self.url)
        user, at, host = parts.netloc.rpartition("@")
        name = user.partition(":")[0]
        return urlunsplit(parts._replace(netloc=f"{name}{at}{host}"))


@dataclass(frozen=True)
class StorageChoice:
    """Where data directories are made: ``kind`` is a name of the registry."""

    name: str = "here"
    kind: str = "here"
    directory: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A question: what is varied, what is measured, and how often."""

    workload: str
    tests: tuple[str, ...]
    systems: tuple[SystemChoice, ...]
    storages: tuple[StorageChoice, ...] = (StorageChoice(),)
    clients: tuple[int, ...] = ()
    """Levels of the client count; empty: each test's own default."""
    parameters: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Levels of each workload parameter that was given (``copies``, ``replicas``)."""
    repetitions: int = 1
    order: str = "interleaved"
    seed: int = 1
    threads: int = 0
    """Worker threads of the engine; 0: one per processor, at most one per client."""
    protocol: str | None = None
    """``simple`` or ``prepared``; None: the test's own default."""
    input_paths: tuple[str, ...] = ()
    """Files or folders the workload's data come from (``--bib``); empty: the workload's default."""
    encoding: str = "utf-8"
    keep_going: bool = False
    feed: str | None = None
    """A plain file whose statements clients send in place of the test's scripts."""
    title: str = ""
    reproduces: str = ""
