"""What a private server of one system is asked for: its options, its installation, its cluster; and
what is refused before a start."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay import registry
from assay.contracts import server_url
from assay.contracts.deployment import PRIMARY, STANDBY, Address, Deployment, Node, Role
from assay.contracts.experiment import SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import capabilities_of
from assay.contracts.systems.protocol import Prefix, ServerDirectory
from assay.errors import ArgumentError, PasswordNeeded, SystemMissing, SystemRefused
from assay.systems import sessions
from assay.systems.cassandra import system
from assay.systems.cassandra.settings import is_in_effect
from assay.systems.cassandra.system import CASSANDRA
from assay.systems.cubrid import server
from assay.systems.cubrid import system as settings
from assay.systems.cubrid.system import CUBRID
from assay.systems.ferretdb import installation as ferretdb
from assay.systems.mongodb import system as configuration
from assay.systems.mongodb.url import address_of, replica_set


@pytest.mark.parametrize(
    ("options", "limit_mb", "expected"),
    [
        ({}, None, 512),
        ({}, 768, 512),
        ({}, 640, 384),
        ({}, 512, 256),
        ({"nodes": "3"}, 2048, 426),
        ({"buffer": "64MB"}, 640, 288),
        ({"heap": "300MB"}, 600, 300),
        ({}, 511, "limit of 511MB is too little: a node needs 512MB, of which 256MB are its heap"),
        ({"heap": "512MB"}, 640, "a node needs 768MB, of which 512MB are its heap"),
        ({"nodes": "2"}, 1000, "each of 2 nodes needs 512MB"),
    ],
)
def test_the_heap_fits_into_the_memory_limit(
    options: Mapping[str, str], limit_mb: int | None, expected: int | str
) -> None:
    machine = ServerMachine(memory_bytes=None if limit_mb is None else limit_mb << 20)
    choice = SystemChoice("cassandra", options=options, machine=machine)
    if isinstance(expected, str):
        with pytest.raises(ArgumentError, match=expected):
            CASSANDRA.check(choice)
    else:
        cache_bytes = system._cache_bytes(choice)
        assert system._heap_bytes(choice, cache_bytes) == expected << 20


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({"replication": "3"}, {}, "replication=3 needs as many nodes, found nodes=1"),
        ({"heap": "16MB"}, {}, "heap=16MB: expected at least 256MB"),
        ({}, {"num_tokens": "16"}, "the setting num_tokens of a private server"),
        ({"buffer": "64MB"}, {"file_cache_size": "1MiB"}, "are one and the same"),
        ({}, {"Memtable": "x"}, "expected the name of a setting of cassandra.yaml"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    options: Mapping[str, str], settings: Mapping[str, str], expected: str
) -> None:
    with pytest.raises(ArgumentError, match=expected):
        CASSANDRA.check(SystemChoice("cassandra", options=options, settings=settings))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("cassandra://u:secret@h/", "names no keyspace"),
        ("cassandra://u:secret@h:0/k", "port=0 in the URL"),
        ("cassandra://u:secret@h/k?tls=on", "tls=on in the URL: expected one of off, require"),
    ],
)
def test_a_url_that_cannot_be_right_is_refused(url: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected) as refusal:
        CASSANDRA.check_url(url)
    assert "secret" not in f"{refusal.value.message} {refusal.value.hint}"


@pytest.mark.parametrize(
    ("asked", "found", "is_same"),
    [
        ("10s", "10000ms", True), ("1024KiB", "1MiB", True), ("64MiB/s", "64MiB/s", True),
        ("Batch", "batch", True), ("yes", "true", True), ("null", "None", True), ("8", "32", False),
        ("10s", "10ms", False), ("1MiB", "1s", False),
    ],
)  # fmt: skip
def test_a_setting_is_compared_by_what_it_means(asked: str, found: str, is_same: bool) -> None:
    assert is_in_effect(asked, found) is is_same


P = Role(PRIMARY)
S = Role(STANDBY, follows="a:1", why_read_only="it is in recovery")


def deployment(address: Address, role: Role | None) -> Deployment:
    return Deployment(
        system="s",
        label="s",
        nodes=(Node("s", StorageFacts.of_url()),),
        endpoints=(address,),
        version="1",
        options={},
        settings_asked={},
        settings={},
        is_private=False,
        role=role,
        connection_limit={"a": 100, "b": 30}.get(str(address.host)),
    )


def attached(
    roles: Mapping[str, Role | SystemRefused | None], clusters: Mapping[str, str | None] = {}
) -> Deployment:
    def attach(address: Address) -> Deployment:
        role = roles[str(address.host)]
        if isinstance(role, SystemRefused):
            raise role
        return deployment(address, role)

    addresses = [Address("null", host=host, port=1, password=f"p {host}") for host in roles]
    return sessions.attached_cluster(
        addresses, "s://a,b/d", attach, lambda address: clusters.get(str(address.host), "one")
    )


def test_the_primary_is_the_first_endpoint_and_each_has_its_name_and_role() -> None:
    found = attached({"b": S, "a": P, "c": S})
    assert [one.host for one in found.endpoints] == ["a", "b", "c"]
    assert [(one.name, one.role.name) for one in found.members] == [
        ("a:1", PRIMARY), ("b:1", STANDBY), ("c:1", STANDBY)
    ]  # fmt: skip
    assert [one.name for one in found.nodes] == ["a:1", "b:1", "c:1"]
    assert found.role == P
    assert found.connection_limit == 30
    endpoints = found.for_engine().plain["endpoints"]
    assert [(one["name"], one.get("is_replica", False)) for one in endpoints] == [
        ("a:1", False), ("b:1", True), ("c:1", True)
    ]  # fmt: skip
    assert [one["password"] for one in endpoints] == ["p a", "p b", "p c"]
    assert "p a" not in str(found.for_record())


@pytest.mark.parametrize(
    ("roles", "clusters", "said"),
    [
        ({"a": P, "b": P}, {}, "found 2 primaries; a:1: primary; b:1: primary"),
        ({"b": S, "c": S}, {}, "found no primary; b:1: standby of a:1 (it is in recovery)"),
        ({"a": P, "b": None}, {}, "b:1: it does not say what it is"),
        ({"a": P, "b": S}, {"b": "two"}, "found those of 2; a:1: one; b:1: two"),
        ({"a": P, "b": S}, {"b": None}, "b:1 does not tell this user of which cluster it is"),
        (
            {"a": SystemRefused("no route", error_class="connection refused"), "b": S},
            {},
            "expected every server that it names; a:1: no route; b:1: standby of a:1",
        ),
    ],
)
def test_what_is_no_cluster_is_refused(
    roles: dict[str, Role | SystemRefused | None], clusters: dict[str, str | None], said: str
) -> None:
    with pytest.raises(SystemRefused) as refused:
        attached(roles, clusters)
    assert said in refused.value.message
    assert refused.value.hint


def test_a_login_that_is_refused_is_not_taken_for_a_server_that_is_down() -> None:
    with pytest.raises(PasswordNeeded):
        attached({"a": PasswordNeeded("who?"), "b": S})


def test_a_url_of_several_hosts_is_one_url_for_each() -> None:
    text = "mariadb://u:p%40@a,[::1]:2,c:3/d?ssl-mode=disabled"
    assert server_url.of_each_host(text) == (
        "mariadb://u:p%40@a/d?ssl-mode=disabled",
        "mariadb://u:p%40@[::1]:2/d?ssl-mode=disabled",
        "mariadb://u:p%40@c:3/d?ssl-mode=disabled",
    )


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cubrid"
    for name in ("bin", "lib", "conf", "msg"):
        (folder / name).mkdir(parents=True)
    for name in (one.name for one in server.PROGRAMS):
        program = folder / "bin" / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (folder / "conf" / "cubrid.conf").write_text("data_buffer_size=512M\n")
    monkeypatch.setenv("CUBRID", str(folder))
    return folder


def test_its_home_has_the_programs_and_a_configuration_of_its_own(
    programs: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    storage = StorageFacts("here", "here", str(tmp_path))
    directory = ServerDirectory(tmp_path, tmp_path / "data", run, storage)
    found = server.find_server()
    settings = {"async_commit": "yes", "db_volume_size": "128M"}
    first = server.make_home(found, directory, settings, 50)
    again = server.make_home(found, directory, settings, 50)
    assert first.broker_port != first.master_port
    assert replace(again, master_port=0, broker_port=0) == replace(
        first, master_port=0, broker_port=0
    ), "a second start finds the folder"
    conf = (again.folder / "conf" / "cubrid.conf").read_text()
    assert f"cubrid_port_id={again.master_port}\n" in conf
    assert "async_commit=yes\n" in conf
    assert "db_volume_size=128M\n" in conf and "64M" not in conf.replace("log_volume_size=64M", "")
    broker = (again.folder / "conf" / "cubrid_broker.conf").read_text()
    assert f"BROKER_PORT={again.broker_port}\n" in broker
    assert "MAX_NUM_APPL_SERVER=50\n" in broker
    assert (again.folder / "bin").resolve() == programs / "bin"
    assert again.environment["CUBRID_DATABASES"] == str(tmp_path / "data")
    assert (programs / "conf" / "cubrid.conf").read_text() == "data_buffer_size=512M\n"


def test_missing_programs_are_named(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "bin" / "cub_cas").unlink()
    with pytest.raises(SystemMissing, match="no program cub_cas"):
        server.find_server()
    monkeypatch.delenv("CUBRID")
    with pytest.raises(SystemMissing) as caught:
        server.find_server()
    assert "cubrid://" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["cubrid_port_id", "CUBRID_PORT_ID"])
def test_settings_of_assay_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="set by Assay"):
        CUBRID.check(SystemChoice("cubrid", settings={name: "1"}))


def test_a_setting_cannot_add_a_line() -> None:
    with pytest.raises(ArgumentError, match="NAME=VALUE"):
        server.check_settings({"a": "1\ncubrid_port_id=1"})


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("cubrid://u:secret@h", "names no database"),
        ("cubrid://u:secret@h:x/d", "port"),
        ("cubrid://u:secret@h/d?a=1", "parameter"),
    ],
)
def test_bad_urls_are_refused_without_their_password(url: str, words: str) -> None:
    with pytest.raises(ArgumentError, match=words) as caught:
        CUBRID.check_url(url)
    assert "secret" not in f"{caught.value.message}{caught.value.hint}"


@pytest.mark.parametrize(
    ("asked", "found", "is_so"),
    [
        ("64M", "64.0M", True), ("1526G", "1.5T", True), ("720min", "43200.000 sec", True),
        ("1000", "1000", True), ("1000", "1000 msec", True), ("yes", "y", True),
        ("notification", "NOTIFICATION", True), ("1526G", "1.6T", False), ("yes", "n", False),
        ("720min", "720.0M", False), ("2M", "", False),
    ],
)  # fmt: skip
def test_a_setting_is_in_effect_however_the_server_writes_it(
    asked: str, found: str, is_so: bool
) -> None:
    assert bool(settings.confirmed_settings({"a": asked}, {"a": found})) is is_so


_APT_GET = """
case "$*" in
*indextargets*) echo http://mirror/debian/ ;;
*--download-only*) touch "$(dirname "$APT_CONFIG")/cache/archives/documentdb.deb" ;;
esac
"""
_CLIENTS = {
    "apt-get": _APT_GET,
    "apt-cache": "echo '  Candidate: 1.0-1'",
    "dpkg": "echo amd64",
    "dpkg-deb": 'tar -C "$PACKAGED" -cf - .',
    "go": """
    if [ "$1" = env ]; then echo go1.27.1; exit; fi
    mkdir -p "$GOPATH" "$GOCACHE" "$GOBIN"
    printf '#!/bin/sh\n' >"$GOBIN/ferretdb"
    chmod +x "$GOBIN/ferretdb"
    """,
}


def _program(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.slow
def test_the_program_of_go_and_those_of_the_packages_come_into_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages of today have /usr/bin only, and /bin is a link to it."""
    for name, text in _CLIENTS.items():
        _program(tmp_path / "clients" / name, text)
    packaged = tmp_path / "packaged"
    for name in ferretdb.PROGRAMS:
        _program(packaged / "usr/lib/postgresql/18/bin" / name)
    _program(packaged / "usr/bin/patchelf")
    _program(packaged / "usr/lib/any/ld-linux.so.2")
    _program(packaged / "usr/share/postgresql/18/extension/documentdb.control")
    monkeypatch.setenv("PACKAGED", str(packaged))
    monkeypatch.setenv("PATH", f"{tmp_path / 'clients'}:{os.environ['PATH']}")
    folder = tmp_path / "prefix"
    folder.mkdir()
    prefix = Prefix(folder, tmp_path / "at the end", "mark")
    ferretdb.install("2.7.0", prefix, lambda _line: None)
    programs = ferretdb.programs_in(folder)
    assert programs.ferretdb == folder / "bin" / "ferretdb"
    assert (folder / "usr/bin/ferretdb").samefile(programs.ferretdb)
    assert programs.postgresql.major_version == 18


@pytest.fixture(autouse=True)
def _no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_MONGODB_PASSWORD", raising=False)


def test_a_url_says_where_who_and_how() -> None:
    found = address_of(
        "mongodb://me:p%40ss@Db.Example:27018/jobs?authSource=users&authMechanism=SCRAM-SHA-1"
        "&w=majority&journal=true&readConcernLevel=local&connectTimeoutMS=1500&tls=true",
        "mongodb",
    )
    assert (found.host, found.port, found.user, found.password) == (
        "db.example", 27018, "me", "p@ss",
    )  # fmt: skip
    assert (found.database, found.tls, found.connect_timeout_s) == ("jobs", "verify", 1.5)
    assert found.options == {
        "auth_source": "users",
        "auth_mechanism": "SCRAM-SHA-1",
        "write_concern": "majority",
        "journal": "true",
        "read_concern": "local",
    }


def test_what_a_url_leaves_out_is_as_with_the_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    found = address_of("mongodb://127.0.0.1/jobs", "mongodb")
    assert (found.port, found.user, found.password, found.tls) == (27017, "", None, "off")
    assert found.options == {}
    monkeypatch.setenv("ASSAY_MONGODB_PASSWORD", "secret")
    assert address_of("mongodb://127.0.0.1/jobs", "mongodb").password is None, "nobody logs in"
    assert address_of("mongodb://me@127.0.0.1/jobs", "mongodb").password == "secret"


def test_a_socket_stands_in_the_place_of_the_host() -> None:
    found = address_of("mongodb://%2Ftmp%2FMongo.sock/jobs", "mongodb")
    assert (found.unix, found.host, found.port, found.tls) == ("/tmp/Mongo.sock", None, None, "off")


@pytest.mark.parametrize(
    ("more", "tls"),
    [
        ("tls=false", "off"),
        ("tls=true&tlsAllowInvalidHostnames=true", "verify-ca"),
        ("tlsAllowInvalidCertificates=true", "require"),
        (f"tlsCAFile={__file__}", "verify"),
    ],
)
def test_certificates_are_verified_unless_the_url_says_less(more: str, tls: str) -> None:
    assert address_of(f"mongodb://h/d?{more}", "mongodb").tls == tls


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mongodb://h:27017", "names no database"),
        ("mongodb://a,b/d", "expected one host"),
        ("mongodb://h/d?tls=perhaps", "tls=perhaps in the URL: expected one of true, false"),
        ("mongodb://h/d?authMechanism=GSSAPI", "expected one of SCRAM-SHA-256"),
        ("mongodb://h/d?connectTimeoutMS=1s", "whole number of milliseconds"),
        ("mongodb://h/d?directConnection=false", "expected one of true"),
        ("mongodb://h/d?retryWrites=true", "'retryWrites' is not one of authSource"),
        ("mongodb://h/d?tlsCAFile=/nothing/there", "there is no such file"),
    ],
)
def test_a_url_of_mongodb_that_cannot_be_right_is_refused(url: str, complaint: str) -> None:
    with pytest.raises(ArgumentError, match=complaint):
        address_of(url, "mongodb")


ASKED = {
    "storage.wiredTiger.engineConfig.cacheSizeGB": "0.5",
    "storage.journal.commitIntervalMs": "50",
    "ttlMonitorEnabled": "false",
}


def test_settings_are_written_into_the_file_and_compared_with_what_the_server_reports() -> None:
    text = configuration.configuration_text(Path("/data"), Path("/run/m.sock"), ASKED)
    document = json.loads(text)
    assert document["storage"] == {
        "dbPath": "/data",
        "wiredTiger": {"engineConfig": {"cacheSizeGB": 0.5}},
        "journal": {"commitIntervalMs": 50},
    }
    assert document["setParameter"] == {"ttlMonitorEnabled": False}
    assert document["net"]["bindIp"] == "/run/m.sock", "at its socket alone"
    # The server repeats its file, and prints parameters of the command line as texts.
    document["setParameter"] = {"ttlMonitorEnabled": "False"}
    parameters = {"ttlMonitorEnabled": "false", "quiet": "false", "version": None}
    found = configuration.effective_settings(document, parameters, ASKED)
    assert found == {
        "storage.wiredTiger.engineConfig.cacheSizeGB": "0.5",
        "storage.journal.commitIntervalMs": "50",
        "ttlMonitorEnabled": "false",
    }


def test_a_setting_that_is_not_in_effect_is_refused() -> None:
    document = json.loads(configuration.configuration_text(Path("/d"), Path("/s"), {}))
    for asked, complaint in [
        ({"noSuchThing": "1"}, "noSuchThing was asked as '1'; the server has none"),
        ({"quiet": "true"}, "quiet was asked as 'true' and is 'false'"),
    ]:
        with pytest.raises(SystemRefused, match=complaint):
            configuration.effective_settings(document, {"quiet": "false"}, asked)
    for name in ("net.port", "storage.dbPath", "security.authorization"):
        with pytest.raises(ArgumentError, match=name):
            configuration.check_settings({name: "x"})


def test_the_option_buffer_is_the_size_of_the_cache() -> None:
    assert configuration.buffer_settings({"buffer": "1GB"}, {}) == {configuration.CACHE: "1"}
    assert configuration.buffer_settings({"buffer": "64MB"}, {}) == {configuration.CACHE: "0.25"}
    with pytest.raises(ArgumentError, match="one and the same"):
        configuration.buffer_settings({"buffer": "1GB"}, {configuration.CACHE: "2"})


def test_transactions_are_those_of_a_replica_set_that_the_url_names() -> None:
    plain, member = "mongodb://127.0.0.1/jobs", "mongodb://127.0.0.1/jobs?replicaSet=rs0&w=1"
    assert [replica_set(url, "mongodb") for url in (plain, member)] == [None, "rs0"]
    system = registry.system("mongodb")
    needed = [
        "transactions" in capabilities_of(system, SystemChoice("mongodb", url=url))
        for url in (None, plain, member)
    ]
    assert needed == [False, False, True]
    of_front = registry.system("ferretdb"), SystemChoice("ferretdb", url="ferretdb://h/d")
    assert "transactions" not in capabilities_of(*of_front)
