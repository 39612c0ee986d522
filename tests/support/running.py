"""Commands while they run: their record, and the server that they started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

import forked_programs
from assay.record import DEFAULT_FILE_NAME, Run, Store
from forked_programs import Started
from waiting import wait_until


@contextmanager
def started(working_folder: Path, *words: str) -> Iterator[Started]:
    """``assay`` in the background; ended with the block in every case."""
    environment = {**os.environ, "XDG_STATE_HOME": str(working_folder / "state")}
    with forked_programs.start(
        "assay", words, folder=working_folder, environment=environment
    ) as running:
        try:
            yield running
        finally:
            running.terminate()


def said_until(running: Started, *beginnings: str) -> str:
    """What it has written to standard error before lines that begin so, one after another."""
    said = ""
    for beginning in beginnings:
        while not (line := running.stderr.readline()).startswith(beginning):
            assert line, said
            said += line
    return said


def wait_for_state(working_folder: Path, state: str) -> None:
    """Until the last run on record is in that state."""

    def is_there() -> bool:
        if not (working_folder / DEFAULT_FILE_NAME).exists():
            return False
        with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
            return any(run.state == state for run in store.runs())

    wait_until(is_there, f"a run is {state}")


def wait_for_second(working_folder: Path) -> None:
    """Until the record has a second of a measurement that is under way: its clients are at work."""
    wait_for_state(working_folder, "driving")

    def is_measured() -> bool:
        return any(run.seconds for run in runs_of(working_folder))

    wait_until(is_measured, "a second of a measurement is on record")


def runs_of(working_folder: Path) -> tuple[Run, ...]:
    """Of the last experiment."""
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        return store.latest().runs


def server_of(assay: Started) -> psutil.Process:
    """The server that this Assay started: its child."""
    (server,) = psutil.Process(assay.pid).children()
    return server


def end_a_generator(pid: int) -> None:
    """Kills the last of the load generators that this process has started."""
    found = psutil.Process(pid).children(recursive=True)
    [one for one in found if "engine_process" in " ".join(one.cmdline())][-1].kill()
