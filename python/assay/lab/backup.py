"""Takes a system with its data, and a way to back it up (a dump, a cold copy, a snapshot); makes
a backup while clients work, or for a later step, restores it, and compares what came back."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, Self

from msgspec import Struct

from assay import _engine, registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects import Column, Dialect, SingleRows, Table
from assay.contracts.observation import Answered, BackupReport
from assay.contracts.storages.abilities import RawDevice
from assay.contracts.systems.abilities import OwnClient, OwnDump, Quiesced
from assay.contracts.systems.protocol import ServerDirectory, System
from assay.errors import AssayError, Bug, RunFailed, SystemDied, SystemRefused, SystemUnderTestError
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.pool import PooledSystem
from assay.load.tables import drop, table_digests
from assay.probe.durability import sync_storage
from assay.provision.copying import RESERVE_BYTES, Sharing, allocated_bytes, copy_directory
from assay.provision.engine import silence
from assay.provision.engine.engine_calls import Session, session
from assay.provision.processes import paused
from assay.storages.file_systems import known_file_system
from assay.text.phrases import phrase


class BackupSubject(Struct, frozen=True):
    """What is backed up."""

    pooled: PooledSystem
    tables: tuple[Table, ...]
    """All that its database holds."""
    folder: Path
    """Where the backup goes; it does not exist before."""

    @property
    def directory(self) -> ServerDirectory:
        found = self.pooled.directory
        if found is None:
            raise Bug(f"{self.pooled.deployment.label} is not a private server")
        return found


class Made(Struct, frozen=True):
    """A backup."""

    size_bytes: int
    shares_blocks: bool


class AtWork(Protocol):
    """The clients that work while a backup is made."""

    def without_sessions(self) -> AbstractContextManager[None]:
        """While the block runs, no session is open."""
        ...


class Way(Protocol):
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        """Why the system on that storage cannot be backed up in this way, as far as that is known
        before it is started; None: it can."""
        ...

    def make(self, subject: BackupSubject, meanwhile: AtWork) -> Made:
        """Makes the backup while the clients of ``meanwhile`` work."""
        ...

    def restore(self, subject: BackupSubject) -> int:
        """Takes the data away, then brings them back and the system up. Returns when the second
        began (``time.monotonic_ns``)."""
        ...


_FOLDER = "backup"


def back_up(
    name: str,
    way: Way,
    pooled: PooledSystem,
    tables: Sequence[Table],
    on_stage: Callable[[str], None],
) -> BackupReport:
    """The system holds ``tables``; it is left with what was restored. Raises `RunFailed` where a
    program fails, and `SystemUnderTestError` where there is no room or the system does not come
    back."""
    dialect = pooled.system.dialect
    if pooled.directory is None or not isinstance(dialect, SingleRows):
        raise Bug(f"{pooled.deployment.label} cannot be backed up")
    subject = BackupSubject(pooled, (*tables, TABLE), pooled.directory.root / _FOLDER)
    source = table_digests(pooled.deployment, dialect, tables)
    create_table(pooled.deployment, dialect, dialect)
    try:
        flush_folder(pooled.directory.root)  # what the load left unwritten is no part of the backup
        with Meanwhile(lambda: pooled.deployment.address, dialect, dialect) as clients:
            clients.forget()
            before = clients.writer.number
            on_stage(f"back up ({name})")
            began_ns = time.monotonic_ns()
            made = way.make(subject, clients)
            flush_folder(subject.folder)
            backup_ns = time.monotonic_ns() - began_ns
            clients.wait_for_answers()
        on_stage(f"restore ({name})")
        began_ns = way.restore(subject)
        try:
            restored = last_written(pooled.deployment, dialect)
            restore_ns = time.monotonic_ns() - began_ns
            on_stage("compare")
            found = table_digests(pooled.deployment, dialect, tables)
        except (SystemRefused, RunFailed) as error:
            raise RunFailed(f"what was restored cannot be read: {error.message}") from error
        drop(pooled.deployment, dialect, (TABLE,))
    finally:
        shutil.rmtree(subject.folder, ignore_errors=True)
    return BackupReport(
        way=name,
        size_bytes=made.size_bytes,
        shares_blocks=made.shares_blocks,
        backup_ns=backup_ns,
        reads=clients.reader.answered(),
        writes=clients.writer.answered(),
        restore_ns=restore_ns,
        equals_source=found == source,
        lost_writes=max(0, before - restored),
        tables={table: rows for table, (rows, _) in found.items()},
    )


TABLE = Table(
    name="assay_backup",
    columns=(Column("id", "int", not_null=True), Column("n", "int")),
    primary_key=("id",),
)
_PAUSE_S = 0.005
_TIMEOUT_S = 120.0


def create_table(deployment: Deployment, dialect: Dialect, rows: SingleRows) -> None:
    """The table of the clients, with its one row."""
    with session(deployment.address) as opened:
        statements = [*dialect.create_table(TABLE, deployment.options)]
        statements += [*dialect.create_indexes(TABLE), rows.insert_row(TABLE, ["1", "0"])]
        for statement in statements:
            opened.execute(statement)


def last_written(deployment: Deployment, dialect: Dialect) -> int:
    """The number of the last write that the table has."""
    with session(deployment.address) as opened:
        found = opened.execute(dialect.read_by_key(TABLE.name, ["n"], "id", "1")).rows
    return int(found[0][-1] or 0) if found else 0


class Client:
    """One client, in a thread of its own."""

    def __init__(self, name: str, statement: Callable[[int], str], where: Callable[[], Address]):
        self._statement = statement
        self._where = where
        self._ending = threading.Event()
        self._pausing = threading.Event()
        self._is_closed = threading.Event()
        self._session: contextlib.ExitStack = contextlib.ExitStack()
        self._opened: Session | None = None
        self._took_ns: list[int] = []
        self._counted_since_ns = 0
        self._last_error = ""
        self._failure: Exception | None = None
        """What ended the thread."""
        self.number = 0
        """Of the last transaction that was acknowledged."""
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """What was answered up to now does not count, nor does the time before of what is under
        way."""
        self._counted_since_ns = time.monotonic_ns()
        self._took_ns = []

    def wait_for_answer(self) -> None:
        """Until a transaction has been answered that was sent after this call. Raises `SystemDied`
        where none is, and what ended the thread."""
        before = self.number
        self._wait_until(lambda: self.number >= before + 2)  # the first may have been sent before

    def pause(self) -> None:
        """Closes its session; a transaction that is due waits until `go_on`. Raises `SystemDied`
        where the one before is not answered, and what ended the thread."""
        self._is_closed.clear()
        self._pausing.set()
        self._wait_until(self._is_closed.is_set)

    def go_on(self) -> None:
        self._pausing.clear()

    def end(self) -> None:
        self._ending.set()
        self._pausing.clear()
        self._thread.join(_TIMEOUT_S)

    def answered(self) -> Answered:
        took_ns = self._took_ns or [0]
        return Answered(len(self._took_ns), int(statistics.median(took_ns)), max(took_ns))

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + _TIMEOUT_S
        while not is_so():
            if self._failure is not None:
                raise self._failure
            if time.monotonic() > deadline_s:
                raise SystemDied(f"no transaction is answered any more: {self._last_error}")
            time.sleep(_PAUSE_S)

    def _work(self) -> None:
        try:
            while not self._ending.is_set():
                self._send()
                time.sleep(_PAUSE_S)
        except Exception as error:
            self._failure = error
        finally:
            self._close()

    def _send(self) -> None:
        """One transaction, again and again until it is answered; what the end of the thread leaves
        without an answer does not count."""
        began_ns = time.monotonic_ns()
        while not self._is_answered():
            if self._ending.is_set():
                return
            time.sleep(_PAUSE_S)
        began_ns = max(began_ns, self._counted_since_ns)
        self._took_ns.append(time.monotonic_ns() - began_ns)

    def _is_answered(self) -> bool:
        if self._pausing.is_set():
            self._close()
            self._is_closed.set()
            return False
        try:
            if self._opened is None:
                self._opened = self._session.enter_context(session(self._where()))
            self._opened.execute(self._statement(self.number + 1))
        except (AssayError, _engine.EngineError) as error:
            self._last_error = str(error)
            self._close()
            return False
        self.number += 1
        return True

    def _close(self) -> None:
        self._opened = None
        with contextlib.suppress(AssayError, _engine.EngineError):
            self._session.close()


class Meanwhile:
    """The clients, while the block runs."""

    def __init__(self, where: Callable[[], Address], dialect: Dialect, rows: SingleRows) -> None:
        def write(number: int) -> str:
            return rows.update_row(TABLE, "n", str(number), "id", "1")

        read = dialect.read_by_key(TABLE.name, ["n"], "id", "1")
        self.writer = Client("backup writer", write, where)
        self.reader = Client("backup reader", lambda _: read, where)
        self._both = (self.writer, self.reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._both:
            client.end()

    def forget(self) -> None:
        """From here on it counts."""
        self.wait_for_answers()
        for client in self._both:
            client.forget()

    def wait_for_answers(self) -> None:
        for client in self._both:
            client.wait_for_answer()

    @contextlib.contextmanager
    def without_sessions(self) -> Iterator[None]:
        """While the block runs, no session is open; the clients' time goes on."""
        for client in self._both:
            client.pause()
        try:
            yield
        finally:
            for client in self._both:
                client.go_on()


class _Nobody:
    """No clients work meanwhile."""

    @contextlib.contextmanager
    def without_sessions(self) -> Iterator[None]:
        yield


class KeptBackup(Struct, frozen=True):
    """A backup, and what it must bring back."""

    way: Way
    way_name: str
    subject: BackupSubject
    made: Made
    made_ns: int
    """Until it was on the storage."""
    source: Mapping[str, tuple[int, str]]
    """Table → its rows and their digest."""

    def restore(self) -> tuple[int, bool]:
        """How long it took until the first table was read, and whether every table has the rows
        that it had. The backup is gone afterwards."""
        pooled = self.subject.pooled
        dialect, tables = pooled.system.dialect, self.subject.tables
        try:
            began_ns = self.way.restore(self.subject)
            try:
                table_digests(pooled.deployment, dialect, tables[:1])
                took_ns = time.monotonic_ns() - began_ns
                found = table_digests(pooled.deployment, dialect, tables)
            except (SystemRefused, RunFailed) as error:
                raise RunFailed(f"what was restored cannot be read: {error.message}") from error
        finally:
            shutil.rmtree(self.subject.folder, ignore_errors=True)
        return took_ns, found == self.source


def make_kept_backup(
    name: str, way_name: str, way: Way, pooled: PooledSystem, tables: Sequence[Table]
) -> KeptBackup:
    """``name``: of its folder. Raises `RunFailed` where a program fails, `SystemUnderTestError`
    where there is no room or the system does not come back."""
    if pooled.directory is None:
        raise Bug(f"{pooled.deployment.label} cannot be backed up")
    folder = pooled.directory.root / f"backup-{name}"
    subject = BackupSubject(pooled, tuple(tables), folder)
    source = table_digests(pooled.deployment, pooled.system.dialect, tables)
    flush_folder(pooled.directory.root)  # what the load left unwritten is no part of the backup
    began_ns = time.monotonic_ns()
    made = way.make(subject, _Nobody())
    flush_folder(folder)
    made_ns = time.monotonic_ns() - began_ns
    return KeptBackup(way, way_name, subject, made, made_ns, source)


def why_copy_refused(choice: SystemChoice, storage: StorageChoice) -> str | None:
    """None: its data are in files."""
    if choice.url is not None:
        return None  # that its server cannot be stopped is said elsewhere
    kind = registry.storage(storage.kind)
    if isinstance(kind, RawDevice) and kind.is_raw(storage):
        return f"{choice.label} on {storage.name}: its data are not in files"
    return None


def restore_files(subject: BackupSubject, sharing: Sharing) -> int:
    """The files of the backup take the place of those that are there; returns when the copy
    began."""

    def replace_files(data: Path) -> int:
        shutil.rmtree(data)
        began_ns = time.monotonic_ns()
        copy_directory(subject.folder, data, sharing=sharing)
        return began_ns

    return subject.pooled.while_stopped(replace_files)


def flush_folder(folder: Path) -> None:
    """A backup that is still in memory is none. Of the whole file system: its journal has the
    names. Once before the backup too, so that each repetition begins alike."""
    try:
        sync_storage(folder)
    except SystemUnderTestError as error:
        raise RunFailed(f"no backup: {error.message}") from error


class ColdCopy:
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        del system
        return why_copy_refused(choice, storage)

    def make(self, subject: BackupSubject, meanwhile: AtWork) -> Made:
        """Every byte is copied, also where the file system could share blocks: that is the other
        way."""
        with meanwhile.without_sessions():
            copied = subject.pooled.while_stopped(
                lambda data: copy_directory(
                    data, subject.folder, reserve_bytes=RESERVE_BYTES, sharing="never"
                )
            )
        return Made(copied.bytes, shares_blocks=False)

    def restore(self, subject: BackupSubject) -> int:
        return restore_files(subject, "never")


COLD = ColdCopy()


_SHARING = ("btrfs", "xfs", "bcachefs", "ocfs2", "overlay")
"""File systems that can share blocks between files; whether this one does, the copy finds out."""


class Snapshot:
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        if not isinstance(system, Quiesced):
            return f"{choice.label} cannot be asked to flush its files for a snapshot"
        found = known_file_system(storage)
        if found and found not in _SHARING:
            return phrase(
                "{} has {}, which cannot share blocks between files; a snapshot needs btrfs or "
                "xfs: {--storage 'loop[fs=btrfs]'}",
                storage.name,
                found,
            )
        return why_copy_refused(choice, storage)

    def make(self, subject: BackupSubject, meanwhile: AtWork) -> Made:
        del meanwhile
        pooled = subject.pooled
        if not isinstance(pooled.system, Quiesced):
            raise Bug(f"{pooled.system.name} cannot flush for a snapshot")
        directory, deployment = subject.directory, pooled.deployment
        with contextlib.ExitStack() as still:
            still.enter_context(pooled.system.quiesced(deployment))
            if not deployment.is_embedded:
                still.enter_context(paused(directory))
            copied = copy_directory(directory.data, subject.folder, sharing="always")
        return Made(copied.bytes, shares_blocks=copied.is_shared)

    def restore(self, subject: BackupSubject) -> int:
        return restore_files(subject, "always")


SNAPSHOT = Snapshot()


_FILE = "dump.sql"


class DumpBackup:
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        del storage
        if isinstance(system, OwnDump) and isinstance(system, OwnClient):
            return None
        return f"{choice.label} has no program that dumps its tables and reads a dump again"

    def make(self, subject: BackupSubject, meanwhile: AtWork) -> Made:
        del meanwhile
        system = subject.pooled.system
        if not isinstance(system, OwnDump):
            raise Bug(f"{system.name} has no dump program")
        subject.folder.mkdir()
        file = subject.folder / _FILE
        command, environment = system.dump_command(subject.pooled.deployment.address)
        silence.run_client_to_end(command, environment, subject.directory, reads=None, writes=file)
        return Made(allocated_bytes(file), shares_blocks=False)

    def restore(self, subject: BackupSubject) -> int:
        pooled, system = subject.pooled, subject.pooled.system
        if not isinstance(system, OwnClient):
            raise Bug(f"{system.name} has no client program")
        drop(pooled.deployment, system.dialect, subject.tables)
        began_ns = time.monotonic_ns()
        command, environment = system.client_command(pooled.deployment.address)
        silence.run_client_to_end(
            command,
            environment,
            subject.directory,
            reads=subject.folder / _FILE,
            writes=Path(os.devnull),
        )
        return began_ns


DUMP = DumpBackup()


WAYS: Mapping[str, Way] = MappingProxyType({"dump": DUMP, "cold": COLD, "snapshot": SNAPSHOT})
"""By the name that is the level of a workload's parameter."""
