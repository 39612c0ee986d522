"""DuckDB behind the protocol of every system under test: no server, a file, and this process.

The database stays open from `provision` to its end, as in a program that uses it: what it has read
stays in its memory from one step of a test to the next. No other process can have the file open
meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import FoundPrograms, ProgramBuild, Spelled
from assay.contracts.systems.protocol import OptionSpec, Prefix, ReportInstalling
from assay.dialects.duckdb import DUCKDB as DIALECT
from assay.env_vars import EnvVar
from assay.errors import SystemMissing, SystemRefused
from assay.provision import confinement
from assay.provision.engine.engine_calls import session
from assay.provision.install import cache, package_clients
from assay.systems.database_file import FileKind, OfOneFile
from assay.systems.duckdb import settings
from assay.systems.duckdb.settings import SAFEGUARDS
from assay.systems.options import BUFFER, buffer_bytes, rounded_up, version_from
from assay.systems.sessions import rows_of

LIBRARY = EnvVar(
    "ASSAY_DUCKDB_LIBRARY",
    "The file of the DuckDB library to use: a libduckdb.so, or the extension module of DuckDB's "
    "Python package; without it, it is looked for in that package, in the usual places, and among "
    "what `assay install` brought.",
)

MODULE = "_duckdb"
LEAST_VERSION = "1.5"
"""Of the functions that the driver calls."""
_NUMBERS = 3
"""Of a whole version."""
WHY_NOT_OLDER = "the library of an older one cannot take back the rows of a bulk load that failed"
_FILE = "libduckdb.so"
_USUAL = ("/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")


def find_library(programs: str = "") -> Path:
    """The file ``programs``, or the one in that folder; without it, the one that the environment
    names, or this machine's. Raises `SystemMissing`."""
    if (chosen := programs or LIBRARY.get()) is not None:
        path = Path(chosen).absolute()
        within = [folder / _FILE for folder in (path, path / "lib")]
        for one in [path, *within, *_modules(path)]:
            if one.is_file():
                return one
        what = f"a folder without {_FILE}" if path.is_dir() else "no file"
        raise SystemMissing(
            f"{path} is {what}" if programs else f"{LIBRARY.name} names {path}, which is {what}",
            hint="name DuckDB's shared library",
        )
    installed = cache.newest("duckdb")
    for path in [*places(), *(_modules(installed) if installed else ())]:
        if path.is_file():
            return path.resolve()
    raise SystemMissing(
        "DuckDB's library is not on this machine",
        hint=f"bring it without root: assay install duckdb; or name its file in {LIBRARY.name}",
    )


def library_in(folder: Path) -> Path:
    """The library in a folder that `install` filled. Raises `SystemMissing`."""
    for path in _modules(folder):
        if path.is_file():
            return path
    raise SystemMissing(f"it has no module {MODULE}: expected DuckDB {LEAST_VERSION} or later")


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    requirement = package_clients.wheel_requirement("duckdb", version, _NUMBERS)
    package_clients.unpack_wheel(requirement, prefix.folder, prefix, report)


def places() -> Iterable[Path]:
    """Where it may be, besides what `install` brought."""
    module = find_spec(MODULE)
    if module is not None and module.origin is not None:
        yield Path(module.origin)
    for folder in _USUAL:
        yield Path(folder) / _FILE


def _modules(folder: Path) -> Iterable[Path]:
    for suffix in EXTENSION_SUFFIXES:
        yield folder / f"{MODULE}{suffix}"


SCHEMES = ("duckdb",)


def _making(file: Path) -> str:
    """By the Python package, in which the library usually is."""
    python = f"import duckdb; duckdb.connect({json.dumps(str(file))}).close()"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(python)}"
    try:
        folder = find_library().parent
    except SystemMissing:
        return command
    is_packaged = (folder / "duckdb").is_dir()
    return f"PYTHONPATH={shlex.quote(str(folder))} {command}" if is_packaged else command


_KIND = FileKind(
    SCHEMES[0],
    "DuckDB",
    # Behind a checksum.
    is_one=lambda head: head[8:12] == b"DUCK",
    making=_making,
)


_LEAST_BUFFER_BYTES = 256 << 20
"""DuckDB's manual: 125 MB for each thread. Queries take their memory out of it too."""


class Duckdb(OfOneFile):
    name = "duckdb"
    dialect: Dialect = DIALECT
    driver = "duckdb"
    capabilities = frozenset(CAPABILITIES) - {
        "own processes",
        "text lengths",
        "isolation levels",
        "read only sessions",
    }
    option_specs: tuple[OptionSpec, ...] = (BUFFER, version_from(LEAST_VERSION, WHY_NOT_OLDER))
    url_schemes: tuple[str, ...] = SCHEMES
    url_variables: tuple[EnvVar, ...] = ()
    chosen_by = LIBRARY
    verified = "in the tests"
    file_kind = _KIND
    file_name = "assay.duckdb"
    other_endings = (".wal",)
    settings_of_the_file = settings.OF_THE_FILE
    installable_version = "2.0.0"
    install_source = (
        "the Python package client brings the package duckdb, 24 MB to download and 70 MB on disk"
    )
    install_bytes = 200 << 20

    def durability_lowered_after(
        self, deployment: Deployment, statements: Sequence[str]
    ) -> tuple[str, ...]:
        with session(deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)
            return settings.durability_lowered_by(settings.read(opened))

    def find(self) -> FoundPrograms:
        return self._found(find_library())

    def find_in(self, folder: Path) -> FoundPrograms:
        return self._found(library_in(folder))

    def places(self) -> Sequence[str]:
        return [str(path) for path in places() if path.is_file()]

    def find_at(self, place: str) -> FoundPrograms:
        return self._found(find_library(place))

    def build_at(self, place: str) -> ProgramBuild:
        library = find_library(place)
        with session(self._address_in_memory(library)) as opened:
            rows = rows_of(opened, "FROM pragma_version()", columns=3) or ()
            said = [" ".join(map(str, row)) for row in rows]
        return ProgramBuild((library,), "\n".join(said))

    def _address_in_memory(self, library: Path) -> Address:
        options = {"library": str(library)}
        return Address(driver=self.driver, file=":memory:", options=options)

    def _found(self, library: Path) -> FoundPrograms:
        try:
            with session(self._address_in_memory(library)) as opened:
                return FoundPrograms(opened.server_version.rpartition(" ")[2], str(library))
        except SystemRefused as error:
            raise SystemMissing(
                error.message, hint=f"name another library in {self.chosen_by.name}"
            ) from error

    def insist_on_library(self) -> None:
        find_library()

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        install(version, prefix, report)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        asked = settings.named(choice.settings)
        return list(
            settings.spelled(asked, self._in_memory(choice, {}), self._in_memory(choice, asked))
        )

    def refuse_settings(self, choice: SystemChoice) -> None:
        """Opens a database in memory with each of them."""
        known = self._in_memory(choice, {})
        for name, value in settings.named(choice.settings).items():
            try:
                self._in_memory(choice, {name: value})
            except SystemRefused as error:
                settings.refuse(name, value, error, known, self._why_not_set(choice, name, value))

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        settings.refuse_reaching(choice.settings)

    def _why_not_set(self, choice: SystemChoice, name: str, value: str) -> str:
        """What the library says where a session sets it, as it says nothing of one that a database
        is opened with; empty: it takes it there."""
        statement = settings.set_globally(name, value)
        try:
            self._in_memory(choice, {}, statement)
        except SystemRefused as error:
            return settings.reason(error)
        return ""

    def _in_memory(
        self, choice: SystemChoice, asked: Mapping[str, str], *more: str
    ) -> dict[str, str]:
        """The settings of a database that was opened with those asked for, where ``more``
        statements were said."""
        library = {"library": str(find_library(choice.programs))}
        with session(
            Address(
                driver=self.driver,
                file=":memory:",
                session_statements=(*settings.statements(asked), *more),
                options={**library, **settings.of_the_database(asked)},
            )
        ) as opened:
            return settings.read(opened)

    @contextlib.contextmanager
    def opened(
        self, choice: SystemChoice, file: Path, storage: StorageFacts, *, is_private: bool
    ) -> Iterator[Deployment]:
        """The deployment; a session of Assay keeps its database open."""
        asked = _asked(choice)
        address = Address(
            driver=self.driver,
            file=str(file),
            session_statements=settings.statements(asked),
            options={
                "library": str(find_library(choice.programs)),
                **settings.of_the_database(asked),
                **(settings.CONFINED if confinement.is_begun() else {}),
            },
        )
        with session(address) as opened:
            found = settings.read(opened)
            yield Deployment(
                system=self.name,
                label=choice.label,
                nodes=(Node(file.name, storage, directory=file.parent),),
                endpoints=(address,),
                version=opened.server_version,
                options={BUFFER.name: choice.options.get(BUFFER.name, BUFFER.default)},
                settings_asked=dict(choice.settings),
                settings=found,
                settings_confirmed=tuple(choice.settings),
                connection_limit=None,
                is_embedded=True,
                is_private=is_private,
                durability_lowered_by=settings.durability_lowered_by(found),
                safeguards=SAFEGUARDS,
            )

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            settings.refuse_those_of_the_file(choice.settings)
        _asked(choice)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """``memory_limit``, of which queries take their own memory as well. What was asked for is
        exact; DuckDB shows it rounded."""
        asked = deployment.address.options.get(settings.MEMORY)
        return settings.size_bytes(asked or deployment.settings.get(settings.MEMORY, ""))


def _asked(choice: SystemChoice) -> dict[str, str]:
    """The settings of a choice, and that of its option ``buffer``."""
    asked = settings.named(choice.settings)
    size = buffer_bytes(choice.options, asked, settings.MEMORY)
    if size is not None:
        kib = rounded_up(size, 1 << 10, _LEAST_BUFFER_BYTES) >> 10
        asked[settings.MEMORY] = f"{kib}KiB"
    return asked


DUCKDB = Duckdb()
