"""URLs of MongoDB, and the configuration file of a private one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import capabilities_of
from assay.errors import ArgumentError, SystemRefused
from assay.systems.mongodb import configuration
from assay.systems.mongodb_protocol.url import address_of, replica_set


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
def test_a_url_that_cannot_be_right_is_refused(url: str, complaint: str) -> None:
    with pytest.raises(ArgumentError, match=complaint):
        address_of(url, "mongodb")


ASKED = {
    "storage.wiredTiger.engineConfig.cacheSizeGB": "0.5",
    "storage.journal.commitIntervalMs": "50",
    "ttlMonitorEnabled": "false",
}


def test_settings_are_written_into_the_file_and_compared_with_what_the_server_reports() -> None:
    text = configuration.text(Path("/data"), Path("/run/m.sock"), ASKED)
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
    found = configuration.effective(document, parameters, ASKED)
    assert found == {
        "storage.wiredTiger.engineConfig.cacheSizeGB": "0.5",
        "storage.journal.commitIntervalMs": "50",
        "ttlMonitorEnabled": "false",
    }


def test_a_setting_that_is_not_in_effect_is_refused() -> None:
    document = json.loads(configuration.text(Path("/d"), Path("/s"), {}))
    for asked, complaint in [
        ({"noSuchThing": "1"}, "noSuchThing was asked as '1'; the server has none"),
        ({"quiet": "true"}, "quiet was asked as 'true' and is 'false'"),
    ]:
        with pytest.raises(SystemRefused, match=complaint):
            configuration.effective(document, {"quiet": "false"}, asked)
    for name in ("net.port", "storage.dbPath", "security.authorization"):
        with pytest.raises(ArgumentError, match=name):
            configuration.check({name: "x"})


def test_the_option_buffer_is_the_size_of_the_cache() -> None:
    assert configuration.of_buffer({"buffer": "1GB"}, {}) == {configuration.CACHE: "1"}
    assert configuration.of_buffer({"buffer": "64MB"}, {}) == {configuration.CACHE: "0.25"}
    with pytest.raises(ArgumentError, match="one and the same"):
        configuration.of_buffer({"buffer": "1GB"}, {configuration.CACHE: "2"})


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
