"""A logical dump: the system's own dump program writes SQL, its own client reads it again."""

from __future__ import annotations

import os
import time
from pathlib import Path

from assay.contracts.systems.abilities import OwnClient, OwnDump
from assay.contracts.systems.protocol import System
from assay.errors import Bug
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.backup.way import AtWork, BackupSubject, Made
from assay.load.tables import drop
from assay.provision.disk.size import allocated_bytes
from assay.provision.engine import client_program

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
        client_program.run_to_end(command, environment, subject.directory, reads=None, writes=file)
        return Made(allocated_bytes(file), shares_blocks=False)

    def restore(self, subject: BackupSubject) -> int:
        pooled, system = subject.pooled, subject.pooled.system
        if not isinstance(system, OwnClient):
            raise Bug(f"{system.name} has no client program")
        drop(pooled.deployment, system.dialect, subject.tables)
        began_ns = time.monotonic_ns()
        command, environment = system.client_command(pooled.deployment.address)
        client_program.run_to_end(
            command,
            environment,
            subject.directory,
            reads=subject.folder / _FILE,
            writes=Path(os.devnull),
        )
        return began_ns


DUMP = DumpBackup()
