"""A private FerretDB: PostgreSQL and FerretDB as one deployment, its settings and its documents."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec import structs
from msgspec.structs import replace

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Index, Table
from assay.contracts.engine import LoadReport
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.mongodb import MONGODB as DIALECT
from assay.errors import PasswordNeeded, RunFailed, SystemRefused
from assay.lab.conformance.statements import a_wrong_password_is_refused
from assay.lab.conformance.verify import verify as verify_system
from assay.load.load import fill
from assay.load.tables import verify_rows
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from assay.provision.processes import has_stopped_cleanly
from assay.systems.ferretdb.system import FERRETDB
from assay.systems.mongodb.system import MONGODB
from commands import Assay, need
from servers import ask, directory_for_servers, provisioned
from waiting import wait_until


@pytest.fixture(autouse=True)
def _there_is_one() -> None:
    need("ferretdb")


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One for several tests, where the path has blanks, colons, backslashes and quotes, and is
    longer than that of a socket may be."""
    need("ferretdb")
    with pytest.MonkeyPatch.context() as environment, directory_for_servers() as storage:
        environment.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path_factory.mktemp("state")))
        odd = Path(storage.directory, "a b:c\\d'e\"f$g;h," + "long" * 25)
        odd.mkdir(mode=0o755)
        with provisioned(FERRETDB, replace(storage, directory=str(odd))) as deployment:
            yield deployment
        odd.rmdir()  # also asserts that everything in it was removed


def test_it_is_set_up_as_requested(storage: StorageFacts) -> None:
    asked = {"Synchronous_Commit": "off", "documentdb.defaultCursorFirstPageBatchSize": "7"}
    with provisioned(FERRETDB, storage, asked, {"buffer": "64MB"}, connections=70) as deployment:
        assert deployment.version.startswith("FerretDB 2.")
        assert "(DocumentDB 1." in deployment.version and "on PostgreSQL 18" in deployment.version
        assert deployment.settings["synchronous_commit"] == "off"
        assert deployment.settings["documentdb.defaultCursorFirstPageBatchSize"] == "7"
        assert deployment.settings["ferretdb.pool_max_conns"] == "70"
        assert int(deployment.settings["max_connections"]) > 70
        assert not {"port", "cron.host"} & set(deployment.settings)
        assert deployment.settings_confirmed == tuple(asked)
        assert deployment.durability_lowered_by == ("synchronous_commit = off",)
        assert FERRETDB.buffer_bytes(deployment) == 64 << 20
        assert [node.name for node in deployment.nodes] == ["postgresql", "ferretdb"]
        ask(deployment, '{"insert": "t", "documents": [{"a": 1}]}')
        assert FERRETDB.counters(deployment)["buffer_hits"] > 0
        sample = FERRETDB.sample(deployment)
        assert sample is not None and sample.processes > 5, "PostgreSQL's, and FerretDB"
        assert FERRETDB.why_it_died(deployment) is None


def test_over_tcp_it_requires_the_password_and_is_reached_by_url(
    storage: StorageFacts, assay: Assay, tmp_path: Path
) -> None:
    with provisioned(FERRETDB, storage, options={"transport": "tcp"}) as deployment:
        to = deployment.address
        assert to.password and to.password not in repr(deployment)
        assert ask(deployment, DIALECT.count("t")) == [("0",)]
        for stranger in ({"password": "wrong"}, {"user": "", "password": None}):
            with pytest.raises(_engine.EngineError) as refusal:
                refused = structs.replace(to.for_engine(), **stranger)
                _engine.Session(refused.json).execute(DIALECT.count("t"))
            assert refusal.value.error_class in ("authentication", "permission")
        url = f"ferretdb://{to.user}:{quote(to.password, safe='')}@{to.host}:{to.port}/assay"
        with FERRETDB.attach(SystemChoice("ferretdb", url=url)) as reached:
            assert (reached.is_private, reached.server_pid) == (False, None)
            assert reached.version == deployment.version.partition(" (")[0]
            ask(reached, '{"insert": "t", "documents": [{"a": 1}]}')
            assert FERRETDB.data_bytes(reached) > 0
        script = tmp_path / "find.json"
        script.write_text('\\set a 1\n{"find": "t", "filter": {"a": :a}};\n\\expect rows 1\n')
        [finding] = verify_system(
            SystemChoice("ferretdb", url=url), StorageChoice(), (a_wrong_password_is_refused,)
        )
        assert finding.result == "met", finding.reason
        ended = assay("run", str(script), "--on", url, "--transactions", "5")
        assert ended.status == 0, ended.err
        assert ended.runs[0].driven is not None and ended.runs[0].driven.outcomes.ok == 5
        other = SystemChoice("mongodb", url=url.replace("ferretdb://", "mongodb://"))
        with (
            pytest.raises(SystemRefused, match=r"expected MongoDB, found FerretDB 2\.") as refused,
            MONGODB.attach(other),
        ):
            pass
        assert refused.value.hint == "the same URL with ferretdb://"
        nobody = SystemChoice("ferretdb", url=f"ferretdb://{to.user}@{to.host}:{to.port}/assay")
        with (
            pytest.raises(PasswordNeeded, match="expected a password for the user 'postgres'"),
            FERRETDB.attach(nobody),
        ):
            pass
        anybody = SystemChoice("ferretdb", url=f"ferretdb://{to.host}:{to.port}/assay")
        with (
            pytest.raises(SystemRefused, match=f"^{anybody.url}: .* requires authentic") as refused,
            FERRETDB.attach(anybody),
        ):
            pass
        assert "USER:PASSWORD@HOST:PORT/DATABASE" in (refused.value.hint or "")
        member = SystemChoice("ferretdb", url=f"{url}?replicaSet=rs0")
        with (
            pytest.raises(SystemRefused, match="replica set rs0, found a server without a replica"),
            FERRETDB.attach(member),
        ):
            pass
        wrong = url.replace(quote(to.password, safe=""), "wrong")
        with (
            pytest.raises(SystemRefused, match="expected a FerretDB server") as refused,
            FERRETDB.attach(SystemChoice("ferretdb", url=wrong)),
        ):
            pass
        assert "authSource=admin" in (refused.value.hint or "")
        assert "wrong" not in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"no_such_setting": "1"}, "no_such_setting"),
        ({"documentdb.no_such_setting": "1"}, "no_such_setting"),
        ({"max_connections": "much"}, "max_connections"),
    ],
)
def test_a_setting_that_cannot_be_in_effect_is_refused(
    storage: StorageFacts, asked: dict[str, str], expected: str
) -> None:
    with pytest.raises(SystemRefused) as refusal, provisioned(FERRETDB, storage, asked):
        pass
    assert expected in f"{refusal.value.message} {refusal.value.hint}"


@pytest.mark.parametrize(("node", "number"), [(0, signal.SIGQUIT), (1, signal.SIGKILL)])
def test_the_end_of_either_process_is_reported(
    storage: StorageFacts, node: int, number: signal.Signals
) -> None:
    with provisioned(FERRETDB, storage) as deployment:
        ended = deployment.nodes[node]
        assert ended.pid is not None
        os.kill(ended.pid, number)
        assert (died := _end(deployment)) is not None
        assert died.startswith(f"{ended.name} of ferretdb (")


def _end(deployment: Deployment) -> str | None:
    return wait_until(lambda: FERRETDB.why_it_died(deployment), "its end is known")


def test_what_was_acknowledged_is_there_after_a_crash_and_after_a_stop(
    storage: StorageFacts,
) -> None:
    choice = SystemChoice("ferretdb")
    with server_directory(storage) as directory:
        with FERRETDB.provision(choice, directory, connections=None) as deployment:
            for number in range(20):
                ask(deployment, f'{{"insert": "t", "documents": [{{"n": {number}}}]}}')
            for node, crash in zip(deployment.nodes, (signal.SIGQUIT, signal.SIGKILL), strict=True):
                assert node.pid is not None
                os.kill(node.pid, crash)
            _end(deployment)
        with FERRETDB.provision(choice, directory, connections=None) as again:
            assert ask(again, DIALECT.count("t")) == [("20",)]
            ask(again, '{"insert": "t", "documents": [{"n": 20}]}')
        assert all(node.pid and has_stopped_cleanly(node.pid) for node in again.nodes)
        with FERRETDB.provision(choice, directory, connections=None) as last:
            assert ask(last, DIALECT.count("t")) == [("21",)]
            assert FERRETDB.settings_of_the_data(last)["block_size"] == "8192"


def awkward() -> Table:
    """Names with signs of JSON, every type, and an index in two directions."""
    types = ["int", "bigint", "float", "double", "text", "date", "timestamp", "bool", "bytes"]
    columns = [Column(f"c_{number}", word) for number, word in enumerate(types)]
    return Table(
        name="order",
        columns=(
            Column("user", "int", not_null=True),
            Column("key", "varchar(20)", not_null=True),
            Column('two "words"', "text"),
            *columns,
            Column("price", "decimal(30,4)"),
            Column("code", "char(3)"),
        ),
        primary_key=("user", "key"),
        unique=(('two "words"',),),
        indexes=(Index("order_down", ("key", "c_0"), descending=frozenset({"c_0"})),),
    )


def checksums_of(report: LoadReport) -> dict[str, str]:
    return {table.name: table.checksum or "" for table in report.tables}


_ROWS: list[list[Any]] = [
    [1, "a", 'say "ä☃"\\\n', -(2**31), 2**63 - 1, 0.5, 1e300, "", date(1970, 1, 1),
     datetime(2026, 11, 22, 9, 10, 11, 123_000), True, b"\x00\xff",
     Decimal("12345678901234567890123456.7890"), "x"],
    [2, "b", "", 2**31 - 1, -(2**63), -0.25, -1e-300, "ß" * 1000, date(9999, 12, 31),
     datetime(1969, 12, 31, 23, 59, 59, 999_000), False, b"", Decimal("-0.0001"), "abc"],
    [3, "c", None, *[None] * 9, None, None],
]  # fmt: skip


def test_rows_of_every_type_come_back_as_they_were_loaded(up: Deployment) -> None:
    table = awkward()
    for statement in [*DIALECT.drop_table(table), *DIALECT.create_table(table, {})]:
        ask(up, statement)
    report = fill(up, DIALECT, [table], lambda: {"order": _ROWS}, with_checksums=True)
    for statement in DIALECT.create_indexes(table):
        ask(up, statement)
    assert ask(up, DIALECT.count("order")) == [("3",)]
    verify_rows(up, DIALECT, [table], checksums_of(report))
    by_key = DIALECT.read_by_key("order", ["code", "user", "price"], "key", '"b"')
    assert ask(up, by_key) == [("abc", "2", "-0.0001")]
    with session(up.address) as opened:
        with pytest.raises(_engine.EngineError) as doubled:
            opened.execute('{"insert": "order", "documents": [{"user": 1, "key": "a"}]}')
        assert doubled.value.error_class == "constraint"
        opened.execute(DIALECT.exists("order"))
        with pytest.raises(_engine.EngineError) as absent:
            opened.execute(DIALECT.exists("nothing"))
        assert absent.value.error_class == "unknown object"
        assert opened.execute('{"find": "order", "filter": {"user": 9}}').is_query
    for statement in DIALECT.delete_where(table.name, "key", ["a", "z"]):
        ask(up, statement)
    assert ask(up, DIALECT.count("order")) == [("2",)]
    for statement in DIALECT.delete_all(table.name):
        ask(up, statement)
    assert ask(up, DIALECT.count("order")) == [("0",)]


def test_a_time_that_bson_cannot_hold_is_found_by_verify(up: Deployment) -> None:
    table = Table("t", (Column("at", "timestamp"),))
    for statement in DIALECT.create_table(table, {}):
        ask(up, statement)
    rows = {"t": [[datetime(2026, 11, 22, 9, 10, 11, 123_456)]]}
    report = fill(up, DIALECT, [table], lambda: rows, with_checksums=True)
    with pytest.raises(RunFailed, match="holds different rows in t") as refused:
        verify_rows(up, DIALECT, [table], checksums_of(report))
    assert "may keep less" in (refused.value.hint or "")


def test_its_sizes_are_those_of_the_documents_and_of_the_whole_directory(up: Deployment) -> None:
    documents = ", ".join([json.dumps({"words": "x" * 1000, "n": n}) for n in range(2000)])
    empty = FERRETDB.data_bytes(up)
    before = FERRETDB.size_on_disk_bytes(up)
    ask(up, f'{{"insert": "large", "documents": [{documents}]}}')
    # PostgreSQL compresses them.
    assert 100_000 < FERRETDB.data_bytes(up) - empty < 20_000_000
    assert FERRETDB.size_on_disk_bytes(up) - before > 100_000
