"""What is in an unpacked capsule is known as such; its settings may not be programs or paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from able import with_ability
from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import ConfinesSessions, Findable
from assay.errors import ArgumentError, SystemMissing
from assay.experiment import from_command_line
from assay.experiment.settings.catalogue import Words

MANIFEST = {"format": 1, "assay": "0.1.0", "members": {}}
EXPERIMENT = 'workload = "tpcb"\nsystems = ["null"]\n'


def is_confined(target: Path, *, trust: bool = False) -> bool:
    experiment, _ = from_command_line.asked(Words(target=str(target), on=("null",), trust=trust))
    return experiment.is_confined


def test_an_experiment_below_a_manifest_is_a_capsules(tmp_path: Path) -> None:
    folder = tmp_path / "unpacked" / "experiment"
    folder.mkdir(parents=True)
    file = folder / "experiment.toml"
    file.write_text(EXPERIMENT)
    assert not is_confined(file)
    manifest = tmp_path / "unpacked" / "manifest.json"
    manifest.write_text(json.dumps({"name": "of another program"}))
    assert not is_confined(file)
    manifest.write_text(json.dumps(MANIFEST))
    assert is_confined(file)
    assert not is_confined(file, trust=True)
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    assert is_confined(link), "a link leads to it"


def test_a_script_of_a_capsule_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    assert is_confined(script)


REFUSED = {
    "postgresql": (
        "archive_command=touch x",
        "Archive_Library=x",
        "shared_preload_libraries=x",
        "ssl_passphrase_command=x",
        "log_directory=x",
        "unix_socket_directories=x",
        "primary_conninfo=host=x",
        "plperl.on_init=x",
    ),
    "mariadb": (
        "general_log_file=/tmp/x",
        "log-bin=/tmp/x",
        "plugin_load_add=x",
        "loose-plugin-dir=x",
        "init_file=x",
        "init-connect=SELECT 1",
        "wsrep_notify_cmd=x",
        "tmpdir=x",
        "secure_file_priv=x",
    ),
    "mysql": ("slow_query_log_file=/tmp/x", "early_plugin_load=x"),
    "duckdb": (
        "temp_directory=/tmp",
        "log_query_path=x",
        "extension_directory=x",
        "enable_external_access=true",
        "profile_output=x",
        "lock_configuration=false",
    ),
    "cassandra": (
        "audit_logging_options.archive_command=x",
        "cdc_raw_directory=x",
        "user_defined_functions_enabled=true",
    ),
}
TAKEN = {
    "postgresql": ("shared_buffers=1GB", "fsync=off", "synchronous_standby_names=", "TimeZone=UTC"),
    "mariadb": ("innodb_flush_log_at_trx_commit=2", "log_bin=mysql-bin", "general_log=ON"),
    "mysql": ("log_bin=OFF", "innodb_buffer_pool_size=1G"),
    "duckdb": ("threads=2", "memory_limit=1GB"),
    "sqlite": ("journal_mode=wal",),
    "cassandra": ("commitlog_sync=batch", "concurrent_writes=16"),
}


@pytest.mark.parametrize("name", with_ability(ConfinesSessions))
def test_settings_that_reach_out_are_refused(name: str) -> None:
    system = registry.system(name)
    assert isinstance(system, ConfinesSessions) and isinstance(system, Findable)
    try:
        system.find()
    except SystemMissing as missing:
        pytest.skip(str(missing))
    for setting in (*REFUSED.get(name, ()), *TAKEN.get(name, ())):
        key, _, value = setting.partition("=")
        choice = SystemChoice(name, settings={key: value})
        if setting in TAKEN.get(name, ()):
            system.refuse_reaching_settings(choice)
            continue
        with pytest.raises(ArgumentError):
            system.refuse_reaching_settings(choice)
            pytest.fail(setting)
