"""How one server of the protocol differs from another: what each must say of itself, what its
settings mean by any of their spellings, and the buffer in which it keeps pages."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec import Struct

from assay.contracts.deployment import Address
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.env_vars import EnvVar
from assay.provision.engine.engine_calls import Session
from assay.systems.options import buffer_bytes, refuse_beyond_memory, rounded_up
from assay.systems.sessions import rows_of


class Programs(Struct, frozen=True):
    """The server's program, and how it finds its own files."""

    server: Path
    base_arguments: tuple[str, ...] = ()
    """Where its error messages and character sets are; empty: where it was built to look."""
    installer: Path | None = None
    """The program that makes a data directory; None: the server does it itself."""


class Product(ABC):
    name: str
    """As in ``--on``, and before ``://``."""
    title: str
    """As people write it."""
    folder: Path
    """Where its profiles of settings are."""
    base_folder: EnvVar
    """Names the folder of the programs to use."""
    option_groups: tuple[str, ...]
    """Of option files, those that its own client reads."""
    engine: OptionSpec
    """Its storage engines; the default one has transactions."""
    buffers: Mapping[str, Buffer]
    """Storage engine, in lower case → where it keeps pages."""
    shared_files: Mapping[str, str]
    """Storage engine, in lower case → names (a regular expression) of files and folders beside the
    databases in which it keeps what belongs to all its tables."""
    settings_of_the_directory: frozenset[str]
    """Settings that a data directory is made with; the server only runs with the same ones."""
    settings_of_assay: Mapping[str, str]
    """Where we do not leave a setting at its default, besides `server.CHOSEN_BY_ASSAY`."""
    settings_in_a_group: Mapping[str, str] = {}
    """Besides these, of a server in control groups."""
    writes_binary_log: bool
    """Whether a server writes one where nothing is asked."""
    default_table_open_cache: int
    changed_query: str
    """Gives the names of the variables that are not at their default."""
    sessions_query: str
    """Gives the number of sessions that are open."""
    checking_arguments: tuple[str, ...]
    """Of the server: it reads its other arguments and ends, without a data directory."""
    dump_arguments: tuple[str, ...] = ()
    """Of its dump program, so that its client can read the dump into the same server."""
    least_directory_bytes: int = 0
    """Of a data directory that is made with the default settings; 0: not known."""
    statistics_statements: tuple[str, ...] = ()
    """Before the size of tables is asked for, so that it is that of now."""

    @abstractmethod
    def find_programs(self, programs: str = "") -> Programs:
        """Those in the folder ``programs``, as `base_folder` names it; without it, where it or this
        machine has them; so below. Raises `SystemMissing`."""

    @abstractmethod
    def find_client(self, programs: str = "") -> Path:
        """Its command-line client. Raises `SystemMissing`."""

    @abstractmethod
    def find_dump(self, programs: str = "") -> Path:
        """Its program that writes a database as SQL. Raises `SystemMissing`."""

    @abstractmethod
    def places(self) -> Sequence[str]:
        """Folders of this machine that may have programs of it, as `base_folder` names one."""

    @abstractmethod
    def make_data_directory(
        self,
        programs: Programs,
        directory: ServerDirectory,
        temporary: Path,
        log: Path,
        arguments: list[str],
    ) -> list[str | Path]:
        """The command that makes it, with ``arguments`` for settings. What it prints goes into
        ``log``."""

    @abstractmethod
    def server_arguments(self) -> list[str]:
        """Of every private server."""

    connection_rights: str
    """To connect when the server is full, and what implies it: with them a test of the connection
    limit would find one session more than other users have."""
    monitoring_rights: str
    """To see what the server says of itself, and to have it flush and lock tables."""

    def rights(self, name: str, databases: str, *, is_confined: bool) -> list[str]:
        """Statements that give a user every right but those of `connection_rights`. With
        ``is_confined`` those of databases whose names begin so, without files and the server's own
        tables."""
        if not is_confined:
            return [
                f"GRANT ALL PRIVILEGES ON *.* TO {name};",
                f"REVOKE {self.connection_rights} ON *.* FROM {name};",
            ]
        return [
            f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {name};",
            f"GRANT ALL PRIVILEGES ON `{databases}%`.* TO {name};",
            f"GRANT {self.monitoring_rights} ON *.* TO {name};",
        ]

    @abstractmethod
    def users(
        self, user: str, password: str | None, clients: str, *, is_confined: bool
    ) -> list[str]:
        """Statements that make the ordinary user anew, for the socket and, with a password, for
        ``clients``: the address that they come from, ``%`` for any; and that lock the
        administrator's account, which has no password. ``is_confined``: see `rights`."""

    @abstractmethod
    def descriptions(self, opened: Session) -> dict[str, Described]:
        """What the server says of its variables; empty where it does not."""

    @abstractmethod
    def why_it_is_gone(self, setting: str) -> str | None:
        """Why it has no such setting, as a sentence that ends with what to do; None: unknown."""

    @abstractmethod
    def tls_arguments(self, address: Address) -> list[str]:
        """Of its client, for TLS as the address has it, but for the names of files."""


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


def plain_name(name: str) -> str:
    """The spelling of SHOW VARIABLES."""
    return name.strip().lstrip("-").replace("-", "_").lower()


_SIZE = re.compile(r"(\d+)([KMGT]?)")
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class Buffer(Struct, frozen=True):
    setting: str
    unit_bytes: int
    """The server rounds to it, or takes nothing else."""
    least_bytes: int
    """With pages of the usual size."""
    requests: str
    """Name of the status variable: pages that were asked for."""
    reads: str
    """Those of them that were not in the buffer."""
    default_bytes: int | None = None
    """As the server has it; None: products differ."""

    def settings(self, size_bytes: int) -> dict[str, str]:
        """That give it so many bytes, or a few more."""
        return {self.setting: str(rounded_up(size_bytes, self.unit_bytes, self.least_bytes))}


POOL = Buffer(
    "innodb_buffer_pool_size",
    1 << 20,
    6 << 20,
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    128 << 20,
)
KEYS = Buffer("key_buffer_size", 4 << 10, 64 << 10, "Key_read_requests", "Key_reads")
"""Of MyISAM: its indexes."""


def buffer_settings(
    own: Buffer, options: Mapping[str, str], asked: Collection[str]
) -> dict[str, str]:
    """The settings that the option ``buffer`` means; none where nothing is asked."""
    size = buffer_bytes(options, {plain_name(name) for name in asked}, own.setting)
    return {} if size is None else own.settings(size)


def check_buffer(own: Buffer, options: Mapping[str, str], choice: SystemChoice) -> None:
    """Raises `ArgumentError` for a buffer that is no size, that is asked for twice, or that does
    not fit into the memory of the server."""
    by_name = {plain_name(name): value for name, value in choice.settings.items()}
    asked = {**buffer_settings(own, options, choice.settings), **by_name}
    found = _SIZE.fullmatch(asked.get(own.setting, "").strip().upper())
    size = int(found[1]) << _POWERS[found[2]] if found else None
    refuse_beyond_memory(choice, size, None if own.setting in asked else own.default_bytes)


def effective_buffer_bytes(own: Buffer | None, effective: Mapping[str, str]) -> int | None:
    """What the server has really given the buffer."""
    return None if own is None or own.setting not in effective else int(effective[own.setting])


_CHANGES = ("Handler_write", "Handler_update", "Handler_delete")


def buffer_counters(own: Buffer | None, opened: Session) -> dict[str, int]:
    """Pages found in the buffer and pages read into it, and rows changed by any storage engine,
    since the server was started."""
    names = [*_CHANGES, *([own.requests, own.reads] if own else [])]
    shown = ", ".join(f"'{name}'" for name in names)
    rows = rows_of(opened, f"SHOW GLOBAL STATUS WHERE Variable_name IN ({shown})", columns=2)
    counted = {str(name): int(value or 0) for name, value in rows or ()}
    found = {}
    if set(_CHANGES) <= counted.keys():
        found["rows_changed"] = sum(counted[name] for name in _CHANGES)
    if own is not None and {own.requests, own.reads} <= counted.keys():
        misses = counted[own.reads]
        hits = max(0, counted[own.requests] - misses)
        found |= {"buffer_hits": hits, "buffer_misses": misses}
    return found
