"""Takes the options and files of `bibtosql --update`; returns which files' rows are replaced,
and gives the lock of a database that only one update holds at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.cli.bibsql import options
from assay.cli.bibsql.options import Parsed
from assay.contracts.dialects import Dialect, LocksTables
from assay.errors import ArgumentError, RunFailed, SystemRefused
from assay.load.bibsql.bibliography import FileRows, files_of
from assay.load.bibsql.updates import NewerThan, deletes, lock, newer_than
from assay.provision.undo import ledger
from assay.workload.values import Workload

_CLOCKS_DIFFER_NS = 60_000_000_000
NEEDS_UPDATE = ("newer-than", "remove-gone")


class FileUpdate(Struct, frozen=True):
    files: tuple[Path, ...]
    """All of the collection, by name."""
    changed: tuple[Path, ...]
    """Those whose rows are replaced."""
    newer_than: NewerThan | None
    removes_others: bool
    """Whether rows of files that are not named are deleted."""

    @property
    def names(self) -> list[str]:
        return [file.name for file in self.files]

    @property
    def changed_names(self) -> list[str]:
        return [file.name for file in self.changed]

    def insist_on_stamp(self) -> None:
        """Raises `ArgumentError` for a stamp that is not there, which a script cannot set, and for
        one in the future."""
        if self.newer_than:
            # The stamp may come from another machine, whose clock is up to a minute ahead.
            self.newer_than.insist_on_past(time.time_ns() + _CLOCKS_DIFFER_NS)
        if self.newer_than and self.newer_than.since_ns is None:
            raise ArgumentError(
                f"--newer-than {self.newer_than.stamp}: there is no such file, and it is no date",
                hint=f"for every file: touch -d 1970-01-01 {self.newer_than.stamp}",
            )

    @property
    def has_work(self) -> bool:
        """Whether there is anything to write, as far as can be known without the database."""
        return bool(self.changed) or self.removes_others

    def script_deletes(self, workload: Workload, server: options.Server) -> list[str]:
        """Lines of SQL that come before the inserts: first what stops a script that would leave
        rows of files that it does not name."""
        rule, text = rule_of(workload), server.dialect
        if self.removes_others:
            first = text.delete_others(rule.table, rule.key, self.names)
            lines = [f"-- Rows of files that are not among the {len(self.files)} above:"]
        else:
            tables = {table.name: table for table in workload.tables}
            into = next(
                tables[name]
                for name in rule.rebuilt
                if any(column.not_null for column in tables[name].columns)
            )
            first = text.refuse_others(rule.table, rule.key, self.names, into)
            lines = [
                f"-- An error here means: {rule.table} holds rows of files that are not among the",
                f"-- {len(self.files)} above. Name all files, or delete those rows: --remove-gone",
            ]
        dialect = server.system.dialect
        rest = deletes(dialect, rule, self.changed_names)
        return [
            *(f"{statement};" for statement in lock(dialect, rule)),
            *lines,
            *(f"{statement};" for statement in (*first, *rest)),
        ]


class UpdateOptions(Struct, frozen=True):
    words: Sequence[str]
    """Files and folders, as given."""
    newer_than: NewerThan | None
    removes_others: bool

    def file_update(self) -> FileUpdate:
        """Looks at the files. Raises `InputError` for those that are not there."""
        files, since = tuple(files_of(self.words)), self.newer_than
        if since is not None:
            since.insist_on_own_file(files)
        changed = files if since is None else tuple(since.changed(files))
        return FileUpdate(files, changed, since, self.removes_others)


def file_update(parsed: Parsed, words: Sequence[str]) -> FileUpdate | None:
    """The options and the files, at once."""
    options = update_options(parsed, words)
    return None if options is None else options.file_update()


def update_options(parsed: Parsed, words: Sequence[str]) -> UpdateOptions | None:
    """None where no update is asked for. Raises `ArgumentError` for options that contradict each
    other. The files are not looked at, the stamp is."""
    if "update" not in parsed.given:
        for name in NEEDS_UPDATE:
            if name in parsed.given or parsed.last(name) is not None:
                raise ArgumentError(f"--{name} needs --update", hint="--update FILE...")
        return None
    if "create" in parsed.given:
        raise ArgumentError(
            "--update and --create: expected one of them, found both",
            hint="--create makes new tables, --update brings those up to date that are there",
        )
    if parsed.last("replicas") is not None:
        raise ArgumentError(
            "--update and --replicas: expected one of them, found both",
            hint="--replicas is for new tables: --create",
        )
    if not words or "-" in words:
        raise ArgumentError(
            "--update needs the names of files: rows know their file by its name",
            hint="bibtosql --update FOLDER, or bibtosql --update *.bib",
        )
    word = parsed.last("newer-than")
    since = None if word is None else newer_than(word)
    return UpdateOptions(words, since, "remove-gone" in parsed.given)


def rule_of(workload: Workload) -> FileRows:
    rule = workload.data.update
    assert isinstance(rule, FileRows), "the bibliography's own workload says it"
    return rule


LOCKED = frozenset({"timeout", "deadlock", "serialization"})
"""The engine's error classes for what another transaction is in the way of."""
_TRY_AGAIN_S = 0.1


@contextmanager
def update_lock(place: str, wait_s: float) -> Iterator[None]:
    """Waits for the lock. Raises `RunFailed` where another update holds it for longer than
    ``wait_s``."""
    folder = ledger.state_directory().parent / "updates"
    file = folder / f"{hashlib.sha256(place.encode()).hexdigest()[:16]}.lock"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(file, "opened", error) from error
    try:
        try:
            _wait(lock, place, wait_s)
        except OSError as error:  # ENOLCK: a file system of a network without locks
            raise _unusable(file, "taken", error) from error
        _name_holder(lock, f"process {os.getpid()}, since {time.strftime('%F %T')}")
        yield
        _name_holder(lock, "")
    finally:
        os.close(lock)


def _unusable(file: Path, what: str, error: OSError) -> ArgumentError:
    return ArgumentError(
        f"{file}: the lock cannot be {what}: {error.strerror}",
        hint=f"name a folder of yours on a local disk: {env_vars.STATE_DIRECTORY.name}=…",
    )


def _name_holder(lock: int, text: str) -> None:
    """For the message of those that wait; it has no name where the disk is full."""
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, text.encode(), 0)


def _wait(lock: int, place: str, wait_s: float) -> None:
    until_s = time.monotonic() + wait_s
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() >= until_s:
            holder = os.pread(lock, 100, 0).decode(errors="replace")
            raise RunFailed(
                f"another update of {place} is running" + (f" ({holder})" if holder else ""),
                hint=f"try again when it has ended, or wait for longer than {wait_s:g} s: "
                "--wait 10min",
            )
        time.sleep(_TRY_AGAIN_S)


@contextmanager
def lock_conflicts_named(place: str, dialect: Dialect, wait_s: float) -> Iterator[None]:
    """Raises `RunFailed` where a lock of the database was waited for longer than ``wait_s``, with
    the same status as for another update on this machine."""
    codes = dialect.lock_refused_codes if isinstance(dialect, LocksTables) else ()
    try:
        yield
    except (RunFailed, SystemRefused) as error:
        is_locked = isinstance(error, SystemRefused) and error.error_class in LOCKED
        if not is_locked and (error.code is None or error.code not in codes):
            raise
        raise RunFailed(
            f"{place}: another program or update has locked what is needed, for longer than "
            f"{wait_s:g} s; nothing has changed ({error.message})",
            hint="try again when it has ended, or wait for longer: --wait 10min",
        ) from error
