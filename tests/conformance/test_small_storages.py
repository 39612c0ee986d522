"""Storages that are too small for the data, refused before anything is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from block_devices import HAS_LOOP_DEVICES, files_of_loop_devices
from commands import Assay, need

pytestmark = pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(f"/var/tmp/assay-test-{os.getpid()}-small")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


def test_rows_that_cannot_fit_are_refused_without_a_record(
    folder: Path, assay: Assay, working_folder: Path
) -> None:
    small = f"loop[size=16M]:{folder}"
    ended = assay(
        "run", "tpcb", "--on", "sqlite", "--storage", small, "--set", "scale=60",
        "--warm-up", "0", "--transactions", "1",
    )  # fmt: skip
    assert ended.status == 2
    assert f"storage '{small}' of 16 MiB is too small for tpcb" in ended.err
    assert "(scale=60, form=pgbench): its 6,000,660 rows need" in ended.err
    assert "choose a larger size for it" in ended.err
    assert not list(working_folder.iterdir())


def test_one_without_room_for_an_empty_server_is_refused(folder: Path, assay: Assay) -> None:
    ended = assay("plan", "tpcb", "--on", "postgresql", "--storage", f"loop[size=32M]:{folder}")
    assert ended.status == 2
    assert "a server without any rows needs 37 MiB or more" in ended.err


def test_what_earlier_runs_took_decides_where_the_rows_alone_do_not(
    folder: Path, assay: Assay
) -> None:
    """19 MB of text, of which numbers take less."""

    def run(storage: str) -> str:
        ended = assay(
            "run", "tpcb", "--on", "sqlite", "--storage", f"{storage}:{folder}",
            "--set", "scale=14", "--warm-up", "0", "--transactions", "1",
        )  # fmt: skip
        assert ended.status == expected, ended.err
        return ended.err

    expected = 3
    said = run("loop[size=16M]")
    assert "may be too small for tpcb" in said
    assert "no space left on storage" in said
    expected = 0
    assert "too small" not in run("here")
    expected = 2
    said = run("loop[size=16M]")
    assert "is too small for tpcb" in said
    assert "MiB in an earlier run" in said
    for size, status, why in (
        ("16M", 2, "that is too small, so `assay run` would not begin"),
        ("64M", 0, "has no room for a copy of the data of sqlite"),
    ):
        planned = assay(
            "plan", "tpcb", "--on", "sqlite", "--storage", f"loop[size={size}]:{folder}",
            "--set", "scale=14", "--warm-up", "0", "--transactions", "1",
        )  # fmt: skip
        assert planned.status == status
        assert why in planned.err
    assert not files_of_loop_devices(folder)


@pytest.mark.parametrize("engine", ["MyISAM", pytest.param("Aria", marks=pytest.mark.same_line)])
def test_a_load_that_waits_for_space_is_ended(engine: str, folder: Path, assay: Assay) -> None:
    need("mariadb")
    small = f"loop[size=180M]:{folder}"
    ended = assay(
        "run", "tpcb", "--on", f"mariadb[engine={engine}]", "--storage", small,
        "--set", "scale=20", "--warm-up", "0", "--transactions", "1",
    )  # fmt: skip
    assert ended.status == 3, ended.err
    (run,) = ended.runs
    waits = f"no space left on storage {small}: mariadb engine={engine} waits for free space: "
    assert str(run.reason).startswith(waits)
    assert "loading the table pgbench_accounts" in str(run.reason)
    assert not files_of_loop_devices(folder)


def test_durability_is_not_measured_where_nothing_is_committed(folder: Path, assay: Assay) -> None:
    ended = assay(
        "run", "bibsql", "--on", "sqlite", "--storage", f"loop[size=64M]:{folder}", "--no-probe"
    )
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.deployment is not None and run.deployment.durability is not None
    assert run.deployment.durability.reason == "no run on it commits anything"


def test_a_full_storage_is_named_whatever_the_system_says(folder: Path, assay: Assay) -> None:
    """The server removes what it could not finish, and gives an error number of its own."""
    need("mariadb")
    small = f"loop[size=190M]:{folder}"
    ended = assay(
        "run", "tpcb", "--on", "mariadb", "--storage", small, "--set", "scale=20",
        "--transactions", "1", "--no-probe", "--no-durability",
    )  # fmt: skip
    assert ended.status == 3, ended.err
    (run,) = ended.runs
    assert str(run.reason).startswith(f"no space left on storage {small}: ")
    assert "choose a storage with more room" in str(run.reason)
    assert not files_of_loop_devices(folder)
