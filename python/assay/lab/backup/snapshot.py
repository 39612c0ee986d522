"""A snapshot: the system flushes, and its files are copied by reference, which takes no time and no
space until they change. It goes on running.

All of its processes stand still while that is done. A snapshot of a whole volume would be of one
instant by itself; a file system that shares blocks between files does it file by file.
"""

from __future__ import annotations

import contextlib

from assay.contracts.systems.abilities import Quiesced
from assay.contracts.systems.protocol import System
from assay.errors import Bug
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.backup import files
from assay.lab.backup.way import AtWork, BackupSubject, Made
from assay.provision.disk.copying import copy_directory
from assay.provision.processes.paused import paused
from assay.storages.known_file_system import known_file_system
from assay.text.mentions import phrase

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
        return files.why_refused(choice, storage)

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
        return files.restore(subject, "always")


SNAPSHOT = Snapshot()
