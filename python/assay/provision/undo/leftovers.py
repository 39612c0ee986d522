"""Removes what a killed Assay left behind: server processes, mounts, directories and other
resources in the ledger, the last created first.

Called before anything is provisioned. Only entries of dead processes are cleared (see `ledger`),
and of these only resources with the entry's mark.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.provision.machine.identity import ProcessIdentity
from assay.provision.undo import ledger
from assay.provision.undo.clean_up import Cleared, undo
from assay.provision.undo.ledger import VERSION, Entry
from assay.provision.undo.resources import KINDS, Directory, Mount, Resource, TaggedProcesses


def clear_leftovers() -> list[Cleared]:
    """Clears every entry whose maker is dead; the newest first, as servers lie on mounts. What one
    process has left is one result."""
    cleared: dict[tuple[int, bool], Cleared] = {}
    paths = sorted(
        (path for path in ledger.state_directory().iterdir() if path.suffix in (".json", ".new")),
        key=_age_key,
        reverse=True,
    )
    for path in paths:
        with _taken(path) as text:
            if text is None:
                continue
            if path.suffix == ".new":  # never became an entry: nothing was made under it
                with ledger.written_to(path.parent):
                    path.unlink(missing_ok=True)
                continue
            entry = _parse(text)
            if entry is None:
                continue
            outcome = undo(entry)
            if not outcome.remaining:
                with ledger.written_to(path.parent):
                    path.unlink(missing_ok=True)
            maker = outcome.owner_pid, outcome.was_killed
            before = cleared.get(maker)
            cleared[maker] = outcome if before is None else before.with_other(outcome)
    return list(cleared.values())


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
    """The entry; None where it is damaged, or of a version or with a kind that is not known here:
    the program that wrote it knows what it means."""
    try:
        document = json.loads(text)
        # What carries the mark is known by its end: an empty or a short one would fit anything.
        if not ledger.is_id(document["id"]):
            return None
        return Entry(
            id=str(document["id"]),
            owner_pid=int(document["owner_pid"]),
            made=str(document["made"]),
            resources=_READERS[document["version"]](document),
            is_left=bool(document.get("is_left")),  # which earlier programs did not note
        )
    except (ValueError, KeyError, TypeError):
        return None


def _resources(document: Any) -> tuple[Resource, ...]:
    return tuple(
        KINDS[resource["kind"]].of_document(resource) for resource in document["resources"]
    )


def _resources_of_version_1(document: Any) -> tuple[Resource, ...]:
    """Directories, mounts and one server, which were taken away in the reverse order."""
    leader = document["leader"]
    return (
        *(Directory(str(path)) for path in reversed(document["directories"])),
        *(Mount(str(path)) for path in reversed(document["mounts"])),
        TaggedProcesses(None if leader is None else ProcessIdentity(**leader)),
    )


_READERS = {1: _resources_of_version_1, VERSION: _resources}
