"""What a private CUBRID server is started with, without its programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemMissing
from assay.systems.cubrid import CUBRID, home, installation, server, settings


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cubrid"
    for name in ("bin", "lib", "conf", "msg"):
        (folder / name).mkdir(parents=True)
    for name in (one.name for one in installation.PROGRAMS):
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
    found = installation.find_server()
    settings = {"async_commit": "yes", "db_volume_size": "128M"}
    first = home.make(found, directory, settings, 50)
    again = home.make(found, directory, settings, 50)
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
        installation.find_server()
    monkeypatch.delenv("CUBRID")
    with pytest.raises(SystemMissing) as caught:
        installation.find_server()
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
        ("64M", "64.0M", True),
        ("1526G", "1.5T", True),
        ("720min", "43200.000 sec", True),
        ("1000", "1000", True),
        ("1000", "1000 msec", True),
        ("yes", "y", True),
        ("notification", "NOTIFICATION", True),
        ("1526G", "1.6T", False),
        ("yes", "n", False),
        ("720min", "720.0M", False),
        ("2M", "", False),
    ],
)
def test_a_setting_is_in_effect_however_the_server_writes_it(
    asked: str, found: str, is_so: bool
) -> None:
    assert bool(settings.confirmed({"a": asked}, {"a": found})) is is_so
