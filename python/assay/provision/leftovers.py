"""Removes what a killed Assay left behind: server processes, mounts, directories, in this order.

Called before anything is provisioned. Only entries whose maker is dead are touched (see `ledger`),
only processes that carry the entry's mark, only mounts and directories whose name ends in its id.
What cannot be removed stays in the ledger for the next time, and is told.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.errors import SystemUnderTestError
from assay.provision import ledger, process_tags
from assay.provision.identity import ProcessIdentity
from assay.provision.ledger import VERSION, Entry
from assay.provision.signals import after_teardown


@dataclass
class Cleared:
    """What was found of one dead Assay's, and what could not be removed."""

    entry: str
    processes: int = 0
    removed: list[str] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    """Each with the reason."""

    def sentence(self) -> str:
        words = "an earlier run was killed"
        if self.processes:
            words += f"; ended {self.processes} of its server processes"
        if self.removed:
            words += f"; removed {', '.join(self.removed)}"
        if self.remaining:
            words += f"; could not remove {', '.join(self.remaining)}"
        return words


@contextlib.contextmanager
def noted(
    identity: str, *, directories: tuple[Path, ...], mounts: tuple[Path, ...] = ()
) -> Iterator[None]:
    """Notes what the caller is about to make, and takes it away at the end, whatever happens.

    Raises `SystemUnderTestError` if something cannot be removed; it then stays noted.
    """
    entry = ledger.new_entry(identity, directories=directories, mounts=mounts)
    try:
        yield
    finally:
        with after_teardown():
            outcome = take_away(entry.entry)
            if not outcome.remaining:
                entry.remove()
        if outcome.remaining:
            raise SystemUnderTestError(
                f"could not remove {', '.join(outcome.remaining)}",
                hint="the next start of assay tries again",
            )


def clear_leftovers() -> list[Cleared]:
    """Clears every entry whose maker is dead; the newest first, as servers lie on mounts."""
    cleared = []
    paths = sorted(
        (path for path in ledger.state_directory().iterdir() if path.suffix in (".json", ".new")),
        key=_age_key,
        reverse=True,
    )
    for path in paths:
        with _taken(path) as text:
            if text is None:
                continue
            if path.suffix == ".new":
                path.unlink(missing_ok=True)  # never became an entry: nothing was made under it
                continue
            entry = _parse(text)
            if entry is None:
                continue
            outcome = take_away(entry)
            if not outcome.remaining:
                path.unlink(missing_ok=True)
            cleared.append(outcome)
    return cleared


def take_away(entry: Entry) -> Cleared:
    """Ends the processes of an entry, then unmounts and removes what it names."""
    outcome = Cleared(entry.id)
    outcome.processes = process_tags.kill(entry.id, entry.leader)
    for mount in entry.mounts:
        _record(outcome, mount, unmount(Path(mount), entry.id))
    if not outcome.remaining:
        for directory in entry.directories:
            _record(outcome, directory, remove_directory(Path(directory), entry.id))
    return outcome


def remove_directory(path: Path, identity: str, *, patience_s: float = 5.0) -> str | None:
    """Removes a directory that we made, with everything in it; returns why it could not.

    Tries again for a while: processes that are just being killed may still write.
    """
    if not path.name.endswith(identity) or path.is_symlink():
        return "it is not a directory that Assay made"
    deadline = time.monotonic() + patience_s
    while True:
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            if time.monotonic() > deadline:
                return str(error)
            time.sleep(0.05)


def unmount(path: Path, identity: str, *, patience_s: float = 10.0) -> str | None:
    """Unmounts a file system that we mounted; returns why it could not. Tries again for a while:
    a killed server's last process may hold it busy for some 100 ms."""
    if not path.name.endswith(identity):
        return "it is not a mount that Assay made"
    deadline = time.monotonic() + patience_s
    while path.is_mount():
        done = subprocess.run(
            ["umount", str(path)], capture_output=True, text=True, check=False, cwd="/"
        )
        if done.returncode != 0:
            if time.monotonic() > deadline:
                return done.stderr.strip() or f"umount ended with status {done.returncode}"
            time.sleep(0.1)
    return None


def _record(outcome: Cleared, path: str, reason: str | None) -> None:
    if reason is None:
        outcome.removed.append(path)
    else:
        outcome.remaining.append(f"{path}: {reason}")


def _age_key(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@contextlib.contextmanager
def _taken(path: Path) -> Iterator[str | None]:
    """The text of an entry whose lock we could take; None where its maker lives or it is gone."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield None
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The maker may have put a new file there between our opening and our locking.
            is_current = os.path.samestat(os.fstat(lock), path.stat())
        except OSError:
            is_current = False
        yield os.read(lock, 1 << 20).decode(errors="replace") if is_current else None
    finally:
        os.close(lock)


def _parse(text: str) -> Entry | None:
    """The entry, or None where it is another version's, who knows what it means, or damaged."""
    try:
        document = json.loads(text)
        # Paths are trusted by their id: an empty or a short one would fit any path.
        if document["version"] != VERSION or not ledger.is_id(document["id"]):
            return None
        leader = document["leader"]
        return Entry(
            id=str(document["id"]),
            owner_pid=int(document["owner_pid"]),
            made=str(document["made"]),
            directories=tuple(str(path) for path in document["directories"]),
            mounts=tuple(str(path) for path in document["mounts"]),
            leader=None if leader is None else ProcessIdentity(**leader),
        )
    except (ValueError, KeyError, TypeError):
        return None
