"""A private PostgreSQL: its checksums, locale, processes, messages and users."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assay.contracts.deployment import Deployment
from assay.contracts.durability import CHECKS_PAGES, CHECKSUMS
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.drive.sampling import Sampler
from assay.errors import SHARED_MEMORY, SystemRefused
from assay.provision.undo.resources import PosixSharedMemory
from assay.systems.postgresql.system import POSTGRESQL
from block_devices import MAY_MOUNT
from commands import need
from programs import UNSHARE
from servers import ask, provisioned, shared


@pytest.fixture(autouse=True)
def _there_is_one() -> None:
    need("postgresql")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with shared("postgresql", tmp_path_factory.mktemp("state")) as deployment:
        yield deployment


def test_it_is_set_up_as_requested(storage: StorageFacts) -> None:
    asked = {"shared_buffers": "65536kB", "Synchronous_Commit": "off", "max_wal_size": "64MB"}
    with provisioned(
        POSTGRESQL, storage, asked, {"checksums": "on"}, connections=150
    ) as deployment:
        assert deployment.version.startswith("PostgreSQL ")
        assert deployment.connection_limit == 160
        assert deployment.settings["shared_buffers"] == "64MB"
        assert deployment.settings["synchronous_commit"] == "off"
        assert deployment.settings["data_checksums"] == "on"
        assert deployment.settings["fsync"] == "on"
        assert deployment.settings["locale_provider"] == "libc"
        assert not {"port", "data_directory", "application_name"} & set(deployment.settings)
        assert deployment.durability_lowered_by == ("synchronous_commit = off",)
        checks = {one.kind: one for one in deployment.safeguards}[CHECKSUMS]
        assert (checks.does, checks.settings) == (CHECKS_PAGES, ("data_checksums = on",))
        assert (
            ask(deployment, "SELECT datcollate, pg_encoding_to_char(encoding) FROM pg_database")
            == [("C", "UTF8")] * 3
        )
        sample = POSTGRESQL.sample(deployment)
        assert sample is not None
        assert sample.processes >= 5, "the first process and its writers"


@pytest.mark.parametrize(
    ("settings", "expected", "hint"),
    [
        ({"shared_bufers": "1GB"}, 'parameter "shared_bufers"', "shared_buffers"),
        ({"work_mem": "much"}, 'parameter "work_mem": "much"', "work_mem=much"),
        ({"client_encoding": "LATIN1"}, "client_encoding was asked as 'LATIN1'", "overridden"),
        ({"no.such": "1"}, "no such", "shared_preload_libraries"),
    ],
)
def test_a_setting_that_is_not_in_effect_is_named_with_the_fix(
    storage: StorageFacts, settings: Mapping[str, str], expected: str, hint: str
) -> None:
    refused = pytest.raises(SystemRefused, match=expected)
    with refused as refusal, provisioned(POSTGRESQL, storage, settings):
        pass
    assert refusal.value.hint is not None
    assert hint in refusal.value.hint


def test_shared_memory_of_a_killed_server_is_removed(storage: StorageFacts) -> None:
    with provisioned(POSTGRESQL, storage) as deployment:
        assert deployment.server_pid is not None
        segments = PosixSharedMemory.mapped_by(deployment.server_pid)
        assert segments
        os.kill(deployment.server_pid, signal.SIGKILL)
    assert not [one.path for one in segments if Path(one.path).exists()]


@pytest.mark.skipif(not MAY_MOUNT or UNSHARE.find() is None, reason="only root mounts")
def test_full_shared_memory_is_named_with_its_size_and_the_fix(working_folder: Path) -> None:
    """As in a container with little of it."""
    run = (
        f"{sys.executable} -m assay run tpcb.select-only --on postgresql --storage tmpfs --no-probe"
    )
    small = (
        f"mount -t tmpfs -o size=600k tmpfs {SHARED_MEMORY} && {run} --warm-up 0 --transactions 1"
    )
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", small],
        cwd=working_folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    assert f"no space left in {SHARED_MEMORY}, which has 600 KiB" in ended.stderr
    assert "--shm-size" in ended.stderr and "on storage" not in ended.stderr


def attached(
    deployment: Deployment, user: str = "postgres", **settings: str
) -> AbstractContextManager[Deployment]:
    assert deployment.address.unix is not None
    folder, port = deployment.address.unix.rsplit("/.s.PGSQL.")
    url = f"postgresql://{user}@/postgres?host={folder}&port={port}"
    return POSTGRESQL.attach(SystemChoice("postgresql", url=url, settings=settings))


def test_a_server_is_reached_by_its_url_with_settings_for_each_session(running: Deployment) -> None:
    assert running.connection_limit == 100
    with attached(running, synchronous_commit="off") as reached:
        assert reached.settings["synchronous_commit"] == "off"
        assert ask(reached, "SHOW synchronous_commit") == [("off",)]
        assert ask(running, "SHOW synchronous_commit") == [("on",)]
        assert POSTGRESQL.size_on_disk_bytes(reached) > 1_000_000
    with pytest.raises(SystemRefused, match='"fsync" cannot'), attached(running, fsync="off"):
        pass
    ask(running, "CREATE ROLE ordinary LOGIN")
    with attached(running, "ordinary") as reached:
        assert reached.connection_limit == 97, "three are kept for superusers"


def test_cpu_time_of_a_session_that_ends_at_the_last_sample_is_counted(running: Deployment) -> None:
    for _ in range(15):
        with Sampler(running, POSTGRESQL) as sampler:
            ask(running, "SELECT sum(g) FROM generate_series(1, 600000) g")
        first, *_, last = (one.sample.cpu_ns for one in sampler.samples)
        assert last - first >= 10_000_000
