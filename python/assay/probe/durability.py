"""Takes a deployment on a storage whose device nothing else uses; returns its durability class,
from the device's flushes against the commits of one client."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from string import ascii_letters, digits

from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Dialect, SingleRows, Table
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings, not_measured
from assay.contracts.storage_facts import IN_MEMORY
from assay.contracts.systems.protocol import System
from assay.errors import Bug, RunFailed, SystemRefused, SystemUnderTestError
from assay.probe.flushes import (
    FOLLOWED,
    IDLE_S,
    LIMIT_S,
    NEVER_IDLE,
    FlushCounter,
    Idle,
    Watched,
    are_flushed_later,
    follow,
    idle,
    others_call_sync,
    watch,
    why_flushes_are_not_counted,
)
from assay.probe.measure import Say, keep, kept, not_said, place, said_age
from assay.provision.engine.engine_calls import Session, session
from assay.provision.machine.mounts import MountLine, mount_of
from assay.provision.undo.resources import MOUNT
from assay.storages.device_counters import Devices, device_at, devices_under
from assay.text import units
from assay.text.output_file import sync_file_system


def measure_durability(
    deployment: Deployment,
    system: System,
    settings: SessionSettings = NO_SETTINGS,
    *,
    again: bool = True,
    say: Say = not_said,
    warn: Say = not_said,
) -> Durability:
    """Takes some 2 seconds where commits are flushed before they are answered, 5 where they are
    flushed soon after, 15 where they are not, and three times the period where a system flushes
    periodically. Makes a table and drops it. ``settings``: of the session that commits. Without
    ``again`` the result of the last day will do.

    Raises `SystemUnderTestError` where the system is lost.
    """
    if (reason := _why_not(deployment, system, settings)) is not None:
        return not_measured(reason)
    directory = Path(deployment.commit_storage.directory)
    devices = _own_devices(deployment, directory)
    if devices is None:
        return not_measured(f"{directory} is not on the storage's own device")
    if (reason := why_flushes_are_not_counted(devices)) is not None:
        return not_measured(reason)
    what, depends_on = "measure the durability of its commits", _depends_on(deployment, settings)
    if not again and (known := kept(Durability, depends_on)) is not None:
        say(what + said_age(known))
        return known
    say(what)
    begun_unix_ns = time.time_ns()
    try:
        found = _measured(deployment, system, directory, devices, settings)
    except (RunFailed, SystemRefused) as error:
        return not_measured(f"the system refused to commit a row: {error.message}")
    found = replace(found, session_statements=settings.statements, begun_unix_ns=begun_unix_ns)
    if found.durability_class is not None:
        keep(found, depends_on, warn)
    return found


def _depends_on(deployment: Deployment, settings: SessionSettings) -> object:
    """The settings in effect have directories and ports: those that were asked for stand for them,
    and what the system says that they lower and safeguard."""
    own = deployment
    places = place(own.storage), place(own.commit_storage)
    asked = sorted(own.options.items()), sorted(own.settings_asked.items())
    in_effect = own.durability_lowered_by, own.safeguards
    return places, own.system, own.label, own.version, asked, in_effect, settings


def _why_not(deployment: Deployment, system: System, settings: SessionSettings) -> str | None:
    if not deployment.is_private:
        return "a server by URL"
    storage = deployment.commit_storage
    for one in (storage, deployment.storage):
        if one.file_system in IN_MEMORY:
            return f"the storage {one.name} is memory: what is flushed is lost with the power, too"
    if not storage.is_own_device:
        return f"the storage {storage.name} has no device of its own"
    with_data = sum(node.directory is not None for node in deployment.nodes)
    if with_data > 1:
        return f"{with_data} nodes share the device"
    return why_no_single_rows(system.dialect, system.capabilities) or settings.why_unknown or None


def _own_devices(deployment: Deployment, directory: Path) -> Devices | None:
    """Those under the data, or under a log on a storage of its own; None where these are not the
    storage's own, as of a system whose tables are on a raw device and its log is elsewhere."""
    own, under = device_at(Path(deployment.commit_storage.device)), devices_under(directory)
    is_own = own is not None and under is not None and set(own.nodes) <= set(under.nodes)
    return under if is_own else None


def _measured(
    deployment: Deployment,
    system: System,
    directory: Path,
    devices: Devices,
    settings: SessionSettings,
) -> Durability:
    one, followed = PAYLOAD_BYTES, PAYLOAD_BYTES * ROWS_FOLLOWED
    read = FlushCounter(devices).read

    with (
        own_flushes_put_off(directory) as file_system_flushes,
        committing(deployment, system.dialect, settings) as client,
    ):
        sync_storage(directory)
        before, began_s = read(), time.monotonic()
        quiet = NEVER_IDLE
        first = watch(client.prepare, client.commit, read, least_bytes(one))
        if not _all_flushed(first):
            sync_storage(directory)
            quiet = idle(read, least_bytes(followed))
        prepare = partial(client.prepare, ROWS_FOLLOWED)
        waits = _all_flushed(first)
        last = follow(prepare, client.commit, read, least_bytes(followed), waits=waits)
        sync_storage(directory)
        after, ended_s = read(), time.monotonic()
        if not _all_flushed(last) and quiet == NEVER_IDLE:
            quiet = idle(read, least_bytes(followed))
        others_sync = False
        if are_flushed_later([*first, *last]):
            longest_s = max(one.delay_ns or 0 for one in last) / 1e9
            for_s = min(max(IDLE_S, 2 * longest_s), LIMIT_S)

            with unflushed_file(directory, followed) as write:
                others_sync = others_call_sync(write, read, least_bytes(followed), for_s)
    return classified(
        [*first, *last],
        quiet,
        followed_bytes=followed,
        payload_bytes=one * len(first) + followed * len(last),
        written_bytes=after.written_bytes - before.written_bytes,
        elapsed_s=ended_s - began_s,
        file_system_flushes=file_system_flushes,
        others_sync=others_sync,
    )


def _all_flushed(watched: Iterable[Watched]) -> bool:
    return all(one.is_flushed_before_answer for one in watched)


# Takes what the device did for each commit; returns the durability class.

_LEAST_SHARE = 0.5
"""Of the payload that must be written: a system may compress it, if not by half."""


def least_bytes(payload_bytes: int) -> int:
    """What the device must write of so many bytes before they count as written."""
    return round(payload_bytes * _LEAST_SHARE)


def classified(
    watched: Sequence[Watched],
    idle: Idle,
    *,
    followed_bytes: int,
    payload_bytes: int,
    written_bytes: int,
    elapsed_s: float,
    file_system_flushes: str,
    others_sync: bool = False,
) -> Durability:
    """``written_bytes``: by the device in ``elapsed_s``, from before the first commit until the
    file system was synced; ``payload_bytes``: of all commits; ``followed_bytes``: of one that was
    followed; ``others_sync``: other programs flush the file system."""
    written_anyway = idle.written_bytes / idle.seconds * elapsed_s if idle.seconds else 0.0
    followed = watched[-FOLLOWED:]
    delays_ns = [one.delay_ns for one in followed if one.delay_ns is not None]
    is_flushed_in_time = are_flushed_later(watched)
    reason = ""
    found: str | None
    if all(one.is_flushed_before_answer for one in watched):
        found = "D3"
    elif is_flushed_in_time and others_sync:
        found = None
        reason = "other programs called sync, which flushes every file system of the machine"
    elif is_flushed_in_time and idle.looks_like_commits(least_bytes(followed_bytes)):
        found = None
        reason = (
            f"{idle.flushes} flushes and {units.size(idle.written_bytes)} written in "
            f"{idle.seconds:g} s without a commit"
        )
    elif is_flushed_in_time:
        found = "D2"
    elif written_bytes - written_anyway < least_bytes(payload_bytes):
        found = "D0"
    else:
        found = "D1"
    return Durability(
        durability_class=found,
        reason=reason,
        commits=len(watched),
        flushed_before_answer=sum(one.is_flushed_before_answer for one in watched),
        longest_delay_ns=max(delays_ns) if found == "D2" else None,
        limit_s=LIMIT_S,
        payload_bytes=payload_bytes,
        written_bytes=written_bytes,
        idle_s=idle.seconds,
        idle_flushes=idle.flushes,
        idle_written_bytes=idle.written_bytes,
        file_system_flushes=file_system_flushes,
    )


# Takes a deployment; commits transactions on it, one at a time: each adds rows with a text that
# does not compress.

PAYLOAD_BYTES = 1500
"""Of each row: every system has a ``varchar`` of this length, and none moves it out of the row."""
ROWS_FOLLOWED = 64
"""Of a transaction that is followed until it is flushed: more bytes than a system at rest writes
without clients."""
_ROWS_BEFORE = 400
"""In the table before commits are watched. Some engines flush the file of a table each time that it
grows: by a page until it has 512 KiB, then by 1 MiB, which holds all rows that are watched."""
_TABLE = Table(
    name="assay_durability",
    columns=(Column("id", "int", not_null=True), Column("payload", f"varchar({PAYLOAD_BYTES})")),
    primary_key=("id",),
)


class Committing:
    """One session. `commit` returns when the system has answered that the row is committed."""

    def __init__(
        self, opened: Session, dialect: Dialect, rows: SingleRows, settings: SessionSettings
    ) -> None:
        self._session = opened
        self._settings = settings
        self._dialect = dialect
        self._rows = rows
        self._random = Random(1)
        self._ready: list[str] = []
        self._number = 0

    def prepare(self, rows: int = 1) -> None:
        """Spells the next transaction, so that `commit` only sends it."""
        inserted = [self._row() for _ in range(rows)]
        self._ready = [
            *self._settings.before_begin,
            *self._dialect.begin(),
            *self._settings.after_begin,
            *inserted,
            *self._dialect.commit(),
        ]

    def _row(self) -> str:
        self._number += 1
        payload = "".join(self._random.choices(ascii_letters + digits, k=PAYLOAD_BYTES))
        return self._rows.insert_row(_TABLE, [str(self._number), self._rows.literal(payload)])

    def commit(self) -> None:
        for statement in self._ready:
            self._session.execute(statement)


def why_no_single_rows(dialect: Dialect, capabilities: frozenset[str]) -> str | None:
    """Why rows cannot be committed one by one; None: they can."""
    if "stored rows" not in capabilities:
        return "the system keeps no rows"
    if not isinstance(dialect, SingleRows):
        return "rows of the system are only loaded in bulk"
    return None


@contextlib.contextmanager
def committing(
    deployment: Deployment, dialect: Dialect, settings: SessionSettings
) -> Iterator[Committing]:
    """A session and a table, which is dropped at the end. Raises `SystemUnderTestError` and
    `RunFailed` where the system does not take them."""
    if not isinstance(dialect, SingleRows):
        raise Bug(f"the dialect {dialect.name} inserts no single rows")
    with session(deployment.address) as opened:
        for statement in settings.before_begin:  # they may name the schema of the table
            opened.execute(statement)
        for statement in dialect.create_table(_TABLE, deployment.options):
            opened.execute(statement)
        for statement in dialect.create_indexes(_TABLE):
            opened.execute(statement)
        client = Committing(opened, dialect, rows=dialect, settings=settings)
        client.prepare(_ROWS_BEFORE)
        client.commit()
        yield client
        for statement in dialect.drop_table(_TABLE):
            opened.execute(statement)


PUT_OFF_S = 3600
_WITH_COMMIT = ("ext3", "ext4", "btrfs")
_OF_ANY_FILE_SYSTEM = {
    "ro", "rw", "sync", "dirsync", "noatime", "relatime", "strictatime", "nodiratime", "lazytime",
    "nosuid", "nodev", "noexec",
}  # fmt: skip
"""Mount options that a remount sets back where they are not repeated."""
_EXT = Path("/sys/fs/ext4")
_OWN_FLUSHES = {"ext2": "ext2 does not flush by itself", "xfs": "xfs flushes by itself every 30 s"}


@contextlib.contextmanager
def own_flushes_put_off(directory: Path) -> Iterator[str]:
    """Yields in words what is done about them. The mount is as it was at the end.

    Only for a mount that Assay made. Raises `SystemUnderTestError` where it cannot be changed.
    """
    mount = mount_of(directory.resolve())
    if mount.file_system not in _WITH_COMMIT:
        own = _OWN_FLUSHES.get(mount.file_system)
        yield own or f"whether {mount.file_system} flushes by itself is not known"
        return
    if not _has_journal(mount):
        yield f"{mount.file_system} without a journal does not flush by itself"
        return
    before = _option(mount, "commit") or "0"  # which both take for their default
    _remount(mount, PUT_OFF_S)
    try:
        yield f"{mount.file_system}'s own flushes put off: commit={PUT_OFF_S}"
    finally:
        _remount(mount, int(before))


def sync_storage(directory: Path) -> None:
    """Writes and flushes everything that the file system of the directory holds in memory."""
    try:
        sync_file_system(directory)
    except OSError as error:
        raise SystemUnderTestError(f"{directory} cannot be synced: {error.strerror}") from None


@contextlib.contextmanager
def unflushed_file(directory: Path, size_bytes: int) -> Iterator[Callable[[], object]]:
    """Yields what overwrites a file there without a flush. Its blocks are on the device already, so
    that a flush of another file leaves them alone. Raises `SystemUnderTestError`."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(os.urandom(size_bytes))
            file.flush()
            os.fsync(file.fileno())
            yield partial(os.pwrite, file.fileno(), os.urandom(size_bytes), 0)
    except OSError as error:
        raise SystemUnderTestError(f"{directory} cannot be written: {error.strerror}") from None


def _has_journal(mount: MountLine) -> bool:
    if mount.file_system == "btrfs":
        return True
    device = Path(mount.source).resolve().name
    return (_EXT / device / "journal_task").exists()


def _option(mount: MountLine, name: str) -> str | None:
    options = dict(option.partition("=")[::2] for option in mount.options.split(","))
    return options.get(name)


def _remount(mount: MountLine, commit_s: int) -> None:
    where, kept = [str(mount.point)], []
    if mount.file_system == "ext3":
        # Of the point alone mount(8) repeats every option that the kernel shows, and with
        # data=journal it shows one that it takes of ext4 only. Of device and point it repeats none.
        where.insert(0, mount.source)
        kept = [one for one in mount.options.split(",") if one in _OF_ANY_FILE_SYSTEM]
    _run(
        [MOUNT.path, "-o", ",".join(["remount", *kept, f"commit={commit_s}"]), *where],
        f"the mount option commit={commit_s} of {mount.point} cannot be set",
    )


def _run(words: list[str], what: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        failed = done.stderr.strip() if done.returncode else None
    except OSError as error:
        failed = f"the program {words[0]} cannot be run: {error.strerror}"
    if failed is not None:
        raise SystemUnderTestError(f"{what}: {failed}")
