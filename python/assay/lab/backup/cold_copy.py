"""A cold copy: the system is stopped, its files are copied, and it is started again."""

from __future__ import annotations

from assay.contracts.systems.protocol import System
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.backup import files
from assay.lab.backup.way import AtWork, BackupSubject, Made
from assay.provision.disk.copying import RESERVE_BYTES, copy_directory


class ColdCopy:
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        del system
        return files.why_refused(choice, storage)

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
        return files.restore(subject, "never")


COLD = ColdCopy()
