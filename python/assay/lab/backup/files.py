"""What ways have in common whose backup is a copy of the files of the data."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from assay import registry
from assay.contracts.storages.abilities import RawDevice
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.backup.way import BackupSubject
from assay.provision.disk.copying import Sharing, copy_directory


def why_refused(choice: SystemChoice, storage: StorageChoice) -> str | None:
    """None: its data are in files."""
    if choice.url is not None:
        return None  # that its server cannot be stopped is said elsewhere
    kind = registry.storage(storage.kind)
    if isinstance(kind, RawDevice) and kind.is_raw(storage):
        return f"{choice.label} on {storage.name}: its data are not in files"
    return None


def restore(subject: BackupSubject, sharing: Sharing) -> int:
    """The files of the backup take the place of those that are there; returns when the copy
    began."""

    def replace_files(data: Path) -> int:
        shutil.rmtree(data)
        began_ns = time.monotonic_ns()
        copy_directory(subject.folder, data, sharing=sharing)
        return began_ns

    return subject.pooled.while_stopped(replace_files)
