"""DuckDB in this process: its settings, its file, and what others may not do with it meanwhile."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.contracts.deployment import Address, Deployment
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.duckdb import DUCKDB as DIALECT
from assay.errors import ArgumentError, SystemMissing, SystemRefused
from assay.experiment import Experiment
from assay.lab.preflight import preflight
from assay.plan import plan
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from assay.systems.duckdb.system import DUCKDB
from assay.workload import reader
from commands import need
from servers import ask


@pytest.fixture(autouse=True)
def _library() -> None:
    need("duckdb")


@contextmanager
def provisioned(storage: StorageFacts, **more: dict[str, str]) -> Iterator[Deployment]:
    with (
        server_directory(storage) as directory,
        DUCKDB.provision(SystemChoice("duckdb", **more), directory, connections=3) as deployment,
    ):
        yield deployment


@pytest.mark.parametrize(
    ("name", "value", "why", "hint"),
    [
        ("threads", "two", "the setting threads: .*'two' to INT64", "it was given threads=two"),
        ("default_block_size", "3", "power of two", "it was given default_block_size=3"),
        (
            "streaming_buffer_size",
            "x",
            "must have a number",
            "it was given streaming_buffer_size=x",
        ),
        ("thread", "1", "no setting 'thread'", "did you mean threads?"),
        ("nosuch", "1", "no setting 'nosuch'", "https://duckdb.org/docs/stable"),
    ],
)
def test_settings_are_refused_before_anything_starts(
    name: str, value: str, why: str, hint: str
) -> None:
    workload = reader.read("tpcb")
    experiment = Experiment(
        workload="tpcb", tests=("select-only",),
        systems=(SystemChoice("duckdb", settings={name: value}),),
    )  # fmt: skip
    with pytest.raises(ArgumentError, match=why) as refused:
        preflight(workload, plan(experiment, workload), ())
    assert str(refused.value.hint).startswith(hint)


def test_settings_are_those_asked_for_in_every_session(storage: StorageFacts) -> None:
    asked = {
        "Threads": "1",
        "max_memory": "100MB",
        "fsync_mode": "NONE",
        "streaming_buffer_size": "2MB",
    }
    with provisioned(storage, settings=asked) as deployment:
        assert deployment.settings_asked == asked
        assert (
            deployment.settings.items()
            >= {
                "threads": "1",
                "memory_limit": "95.3 MiB",
                "streaming_buffer_size": "1.9 MiB",
                "autoinstall_known_extensions": "false",
            }.items()
        )
        assert deployment.durability_lowered_by == ("fsync_mode = NONE",)
        assert DUCKDB.buffer_bytes(deployment) == 100_000_000
        asked_now = "SELECT current_setting('threads'), current_setting('streaming_buffer_size')"
        assert ask(deployment, asked_now) == [("1", "1.9 MiB")]
    with provisioned(storage, options={"buffer": "300MiB"}) as deployment:
        assert DUCKDB.buffer_bytes(deployment) == 300 << 20
        assert deployment.durability_lowered_by == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"no_such_setting": "1"}, "no_such_setting"),
        ({"threads": "much"}, "much"),
        ({"streaming_buffer_size": "'; DROP"}, "DROP"),
        ({"http_proxy_password": "secret"}, "no setting 'http_proxy_password'"),
        ({"a b": "1"}, "no setting 'a b'"),
        ({"threads": "1", "worker_threads": "2"}, "threads is asked for twice"),
    ],
)
def test_a_setting_that_cannot_be_in_effect_is_refused(
    storage: StorageFacts, asked: dict[str, str], words: str
) -> None:
    with (
        pytest.raises((ArgumentError, SystemRefused), match=words),
        provisioned(storage, settings=asked),
    ):
        pytest.fail("it cannot be as asked")


def test_the_data_are_there_after_a_restart(storage: StorageFacts) -> None:
    with server_directory(storage) as directory:
        choice = SystemChoice("duckdb")
        with DUCKDB.provision(choice, directory, connections=None) as deployment:
            ask(deployment, "CREATE TABLE t AS SELECT i, repeat('x', 100) FROM range(100000) r(i)")
            ask(deployment, "INSERT INTO t VALUES (-1, NULL)")
            assert DUCKDB.size_on_disk_bytes(deployment) > DUCKDB.data_bytes(deployment) > 0
            sample = DUCKDB.sample(deployment)
            assert sample is not None and sample.open_files >= 1
            assert DUCKDB.why_it_died(deployment) is None
        with DUCKDB.provision(choice, directory, connections=None) as deployment:
            assert ask(deployment, "SELECT count(*), min(i) FROM t") == [("100001", "-1")]
            assert DUCKDB.size_on_disk_bytes(deployment) == DUCKDB.data_bytes(deployment)
    assert "is gone" in (DUCKDB.why_it_died(deployment) or "")


def test_a_file_is_reached_by_url_and_is_ours_alone_meanwhile(tmp_path: Path) -> None:
    file = tmp_path / "my base.duckdb"
    place = Address("duckdb", file=str(file), options={"library": DUCKDB.find().place})
    with session(place) as made:
        made.execute("CREATE TABLE t AS SELECT 7 AS a")
    url = f"duckdb:///{str(file).replace(' ', '%20')}"
    with DUCKDB.attach(SystemChoice("duckdb", url=url)) as deployment:
        assert not deployment.is_private
        assert ask(deployment, "SELECT a FROM t") == [("7",)]
        other = "import sys; from assay import _engine; _engine.Session(sys.argv[1])"
        words = [sys.executable, "-c", other, place.for_engine().json]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "Could not set lock on file" in done.stderr
    assert file.exists()
    words_txt = tmp_path / "words.txt"
    words_txt.write_text("no database " * 1000)
    for wrong, asked, words in [
        ("duckdb:///none.duckdb", {}, "no file none.duckdb"),
        ("duckdb://host/x", {}, "expected duckdb:///"),
        (url, {"default_block_size": "16384"}, "of new files"),
        (f"duckdb:///{words_txt}", {}, "words.txt"),
    ]:
        choice = SystemChoice("duckdb", url=wrong, settings=asked)
        with pytest.raises((ArgumentError, SystemRefused), match=words), DUCKDB.attach(choice):
            pytest.fail("it cannot be reached")


def test_without_a_library_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DUCKDB_LIBRARY", "/no/such/libduckdb.so")
    with pytest.raises(SystemMissing, match="which is no file"):
        DUCKDB.find()
    monkeypatch.setenv("ASSAY_DUCKDB_LIBRARY", __file__)
    why = rf"the DuckDB library cannot be loaded: {re.escape(__file__)}: (?!dlopen failed)"
    with pytest.raises(SystemMissing, match=why):
        DUCKDB.find()


def test_every_keyword_of_the_library_can_name_a_table_and_a_column(storage: StorageFacts) -> None:
    with provisioned(storage) as deployment, session(deployment.address) as opened:
        opened.execute("BEGIN")
        for (word,) in opened.execute("SELECT keyword_name FROM duckdb_keywords()").rows:
            name = DIALECT.identifier(str(word))
            opened.execute(f"CREATE TABLE {name} ({name} INTEGER)")
            opened.execute(f"INSERT INTO {name} ({name}) VALUES (1)")
            opened.execute(f"SELECT {name} FROM {name} WHERE {name} = 1 ORDER BY {name}")
            opened.execute(f"DROP TABLE {name}")
        opened.execute("ROLLBACK")
