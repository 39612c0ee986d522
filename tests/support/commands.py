"""Runs commands as users do, and finds which systems this machine has."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import forked_programs
from assay import registry
from assay.contracts.systems.abilities import Findable
from assay.errors import SystemMissing
from assay.experiment import StorageChoice, SystemChoice
from assay.judge.run import Run
from assay.provision.install import cache as versions
from assay.provision.running_system import provision
from assay.record import DEFAULT_FILE_NAME, ExperimentRecord, Store
from assay.text.versions import version_numbers

Assay = Callable[..., "Ended"]


def is_delayed(ended: Ended) -> bool:
    """Whether other programs delayed clients of `e831.reliability`, which begin one after another:
    until the next one overtook one of them, or until too few worked at once. It is tried again."""
    return re.search("clients overlapped|started too far apart", ended.err) is not None


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command in that folder."""
    return forked_programs.run("assay", words, folder=folder)


IN_MEMORY = ("--storage", "tmpfs")
"""For runs of which it is not asked how fast a disk is: nothing waits for its flushes."""


class Ended:
    """A command that has ended: status, output, and its record."""

    def __init__(self, done: subprocess.CompletedProcess[str], working_folder: Path) -> None:
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self._folder = working_folder

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the last experiment."""
        return self.experiment.runs

    @property
    def experiment(self) -> ExperimentRecord:
        """The record of the last experiment."""
        with Store(self._folder / DEFAULT_FILE_NAME, must_exist=True) as store:
            return store.latest()

    @property
    def document(self) -> Any:
        """Standard output, which must be one JSON document."""
        return json.loads(self.out)


@cache
def why_missing(system: str) -> str | None:
    """Why this machine does not have the system; None where it has."""
    found = registry.system(system)
    try:
        if isinstance(found, Findable):
            found.find()
            return None
        with provision(SystemChoice(system), StorageChoice(), connections=None):
            return None
    except SystemMissing as missing:
        return f"{missing.message} ({missing.hint})"


def two_versions(system: str) -> tuple[str, str]:
    """The oldest and the newest version of the system that are on this machine; skips the test,
    with the reason, where there are not two."""
    known = [
        version_numbers(one.version) for one in versions.programs_here(registry.system(system))
    ]
    if len(known) < 2:
        pytest.skip(f"expected two versions of {system} on this machine, found {known}")
    return known[-1], known[0]


def need(system: str) -> None:
    """Skips the test, with the reason, where the system's programs are not on this machine."""
    if reason := why_missing(system):
        pytest.skip(reason)
