"""Private servers of every system, and a PostgreSQL that is reached by its URL."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec import structs
from msgspec.structs import replace

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import ChecksSettings
from assay.errors import ArgumentError, SystemMissing, SystemRefused
from assay.lab.preflight import preflight
from assay.plan import plan
from assay.provision.engine.engine_calls import session
from assay.systems import System
from assay.systems.postgresql import installation
from assay.systems.postgresql.url import VARIABLES, address_of
from assay.workload import reader
from servers import ask, provisioned, with_client
from waiting import wait_until


def test_a_new_one_is_read_filled_and_killed_where_the_path_is_odd(
    server: System, storage: StorageFacts
) -> None:
    """One server for all of it. Its path has blanks, colons, backslashes and quotes, and is longer
    than that of a socket may be."""
    odd = Path(storage.directory, "a b:c\\d'e\"f$g;h," + "long" * 25)
    odd.mkdir(mode=0o755)
    try:
        placed = replace(storage, directory=str(odd))
        with provisioned(server, placed, connections=200) as deployment:
            data = deployment.data_directory
            assert data is not None and data.is_relative_to(odd)
            _its_facts_can_be_read(server, deployment)
            _its_size_grows_with_the_data(server, deployment)
            _the_reason_of_its_end_is_known(server, deployment)
    finally:
        odd.rmdir()  # also asserts that everything in it was removed


def _its_facts_can_be_read(server: System, deployment: Deployment) -> None:
    assert deployment.is_private
    assert deployment.connection_limit is not None
    assert deployment.connection_limit > 200
    assert deployment.settings_asked == {}
    assert {spec.name for spec in server.option_specs} == set(deployment.options)
    with session(deployment.address) as opened:
        assert opened.server_version == deployment.version
        sample = server.sample(deployment)
    assert sample is not None
    assert min(sample.processes, sample.threads, sample.open_files) > 0
    assert min(sample.resident_bytes, sample.cpu_ns) > 0
    assert server.why_it_died(deployment) is None
    assert "ähere" in with_client(server, deployment, "SELECT CONCAT('ä', 'here');\n").stdout


def _its_size_grows_with_the_data(server: System, deployment: Deployment) -> None:
    table = Table("t", (Column("words", "varchar(1000)"),))
    rows = ", ".join(["('" + "x" * 1000 + "')"] * 1000)
    before = server.size_on_disk_bytes(deployment)
    for statement in server.dialect.create_table(table, {}):
        ask(deployment, statement)
    for _ in range(5):
        ask(deployment, f"INSERT INTO t (words) VALUES {rows}")
    grown = server.size_on_disk_bytes(deployment) - before
    # Servers log the rows too, some twice, and extend their files ahead of need.
    assert 5_000_000 < grown < 100_000_000, "5 MB of rows, and what is written about them"


def _the_reason_of_its_end_is_known(server: System, deployment: Deployment) -> None:
    assert deployment.server_pid is not None
    os.kill(deployment.server_pid, signal.SIGKILL)
    died = wait_until(lambda: server.why_it_died(deployment), "its end is known")
    assert died is not None
    assert "SIGKILL" in died
    assert "ready" not in died, "the output of its start is no reason"


def test_settings_are_refused_before_it_is_started(server: System) -> None:
    if not isinstance(server, ChecksSettings):
        pytest.skip("its programs do not say what they take")
    workload = reader.read("tpcb")

    def look(**settings: str) -> None:
        experiment = Experiment(
            workload="tpcb", tests=("select-only",),
            systems=(SystemChoice(server.name, settings=settings),),
        )  # fmt: skip
        preflight(workload, plan(experiment, workload), ())

    look(max_connections="300")
    for name, hint in (("max_conections", "did you mean max_connections"), ("bin_x", "bin_x=300")):
        with pytest.raises(ArgumentError, match=f"refuses a setting: .*{name}") as refused:
            look(**{name: "300"})
        assert hint in str(refused.value.hint)
    for name, value in (("innodb_flush_log_at_trx_commit", "on"), ("sync_binlog", "yes")):
        if server.name == "postgresql":
            with pytest.raises(ArgumentError, match='"server_version_num" cannot be changed'):
                look(server_version_num="1")
        else:
            with pytest.raises(ArgumentError, match=f"Unknown suffix .*{name.replace('_', '.')}"):
                look(**{name: value})


def test_over_tcp_it_requires_the_password_that_no_record_has(
    server: System, storage: StorageFacts
) -> None:
    with provisioned(server, storage, options={"transport": "tcp"}) as deployment:
        assert (deployment.address.unix, deployment.address.host) == (None, "127.0.0.1")
        assert deployment.address.password
        assert deployment.address.password not in repr(deployment)
        assert deployment.address.for_record()["password"] is None
        assert ask(deployment, "SELECT 1") == [("1",)]
        assert "seen" in with_client(server, deployment, "SELECT CONCAT('se', 'en');\n").stdout
        for password in (None, "wrong"):
            stranger = structs.replace(deployment.address.for_engine(), password=password)
            with pytest.raises(_engine.EngineError) as refusal:
                _engine.Session(stranger.json)
            assert refusal.value.kind == "system"
        # The same server by its URL is a foreign one: it is used, and not inspected.
        with server.attach(SystemChoice(server.name, url=url_of(server, deployment))) as reached:
            assert (reached.is_private, reached.server_pid) == (False, None)
            assert (reached.version, reached.connection_limit) == (
                deployment.version,
                deployment.connection_limit,
            )
            assert server.sample(reached) is None
            assert server.size_on_disk_bytes(reached) >= 0
        assert ask(deployment, "SELECT 1") == [("1",)], "Assay did not start it"


def url_of(server: System, deployment: Deployment) -> str:
    to = deployment.address
    password = quote(to.password or "", safe="")
    return f"{server.url_schemes[0]}://{to.user}:{password}@{to.host}:{to.port}/{to.database}"


def test_a_setting_is_read_back_and_in_effect_for_every_session(
    server: System, storage: StorageFacts
) -> None:
    """In any letter case; also for our own user, who cannot connect when the server is full. More
    clients than the limit are refused before they connect."""
    with provisioned(server, storage, {"Max_Connections": "12"}, connections=50) as deployment:
        assert deployment.settings["max_connections"] == "12"
        assert deployment.connection_limit == 12
        server.refuse_too_many(deployment, 12)
        with pytest.raises(SystemRefused, match="13 clients, but the server takes 12 sessions"):
            server.refuse_too_many(deployment, 13)
        with ExitStack() as held:
            for _ in range(3):
                held.enter_context(session(deployment.address))
            server.refuse_too_many(deployment, 9)
            with pytest.raises(SystemRefused, match=r"10 clients.*\(3 in use\)") as early:
                server.refuse_too_many(deployment, 10)
            assert "higher max_connections" in (early.value.hint or "")
            for _ in range(9):
                held.enter_context(session(deployment.address))
            with pytest.raises(SystemRefused) as refusal, session(deployment.address):
                pass
        assert refusal.value.error_class == "too many connections"
        assert refusal.value.code


@pytest.mark.parametrize(("name", "value"), [("no_such_setting", "1"), ("max_connections", "much")])
def test_a_setting_that_cannot_be_in_effect_is_refused(
    server: System, storage: StorageFacts, name: str, value: str
) -> None:
    with pytest.raises(SystemRefused) as refusal, provisioned(server, storage, {name: value}):
        pass
    assert name in refusal.value.message
    assert value in f"{refusal.value.message} {refusal.value.hint}"


def test_its_address_cannot_be_set(server: System, storage: StorageFacts) -> None:
    asked = {"Port": "5432"}
    with pytest.raises(ArgumentError, match="Port"), provisioned(server, storage, asked):
        pass


@pytest.fixture(autouse=True)
def _no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")


def test_every_part_of_a_url_is_read(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    address = address_of(
        "postgresql://us%40er:pa%2Fss%40@db.example:6000/my%20base"
        f"?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem"
    )
    assert address.driver == "postgresql"
    assert (address.host, address.port, address.unix) == ("db.example", 6000, None)
    assert (address.user, address.password, address.database) == ("us@er", "pa/ss@", "my base")
    assert (address.tls, address.ca_file) == ("verify", f"{tmp_path}/ca.pem")


def test_missing_parts_of_a_url_are_as_with_libpq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody")
    monkeypatch.setenv("LOGNAME", "somebody")
    bare = address_of("postgres://")
    assert bare.unix == "/var/run/postgresql/.s.PGSQL.5432"
    assert (bare.user, bare.database, bare.password, bare.tls) == (
        "somebody",
        "somebody",
        None,
        "off",
    )
    tcp = address_of("postgres://user@[::1]/")
    assert (tcp.host, tcp.port, tcp.database, tcp.tls) == ("::1", 5432, "user", "prefer")
    monkeypatch.setenv("PGPASSWORD", "secret")
    assert address_of("postgres://").password == "secret"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:secret@h:port/", "port"),
        ("postgresql://u:secret@h:70000/", "port"),
        ("postgresql://u:secret@h/?port=0", "port=0"),
        ("postgresql://u:secret@h:0/", "port=0"),
        ("postgresql://u:secret@h/?sslmode=yes", "sslmode=yes"),
        ("postgresql://u:secret@h/?ssl_mode=require", "'ssl_mode'"),
        ("postgresql://u@h/?password=secret", "'password'"),
    ],
)
def test_unusable_parts_are_named_without_the_password(url: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected) as refusal:
        address_of(url)
    assert "secret" not in f"{refusal.value} {refusal.value.hint}"


def test_missing_programs_are_reported_with_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_POSTGRESQL_BIN", "/nowhere")
    with pytest.raises(SystemMissing, match="/nowhere") as missing:
        installation.find_server()
    assert "apt-get install postgresql" in str(missing.value.hint)
