"""What a plan has beyond its cells: random order, chosen runs, quick versions, contents of runs,
storages for logs, and what a capsule asks for."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from able import with_ability
from assay import registry
from assay.contracts.factors import ServerMachine
from assay.contracts.systems.abilities import ConfinesSessions, Findable, SeveralVersions
from assay.errors import ArgumentError, ExperimentError, NotOnThisMachine, SystemMissing
from assay.experiment import (
    Experiment,
    StorageChoice,
    SystemChoice,
    from_command_line,
    settings_validation,
)
from assay.experiment.choices import identity
from assay.experiment.from_command_line import Words, asked, experiment
from assay.experiment.origin import command_of, patterns
from assay.experiment.quick import described
from assay.lab import lab
from assay.plan import plan, values
from assay.plan.fingerprint import content_of
from assay.workload import reader
from assay.workload.ad_hoc_script import workload_of

A, B = SystemChoice("a"), SystemChoice("b", settings={"size": "1"})
HERE, FAST = StorageChoice(), StorageChoice("fast", "tmpfs")
TPCB = reader.read("tpcb")
FILE = """\
title = "Sizes"
workload = "tpcb"
systems = ["null"]
clients = [8, 16]
repetitions = 3

[parameters]
scale = [10, 100]

[drive]
duration_s = 60

[quick]
repetitions = 1

[quick.drive]
duration_s = 2
"""


def wanted(**given: Any) -> Experiment:
    known = {
        "workload": "tpcb",
        "tests": ("tpcb-like",),
        "systems": (A, B),
        "storages": (HERE, FAST),
    }
    return Experiment(**{**known, **given})


def test_randomized_repetitions_have_every_cell_once_each_in_an_order_of_its_own() -> None:
    one = wanted(order="randomized", clients=(1, 2, 4), repetitions=4, parameters={"scale": (1, 2)})
    runs = plan(one, TPCB).runs
    assert Counter(Counter(run.cell.fingerprint for run in runs).values()) == {4: 24}
    orders = [
        tuple(run.cell.fingerprint for run in runs if run.repetition == repetition)
        for repetition in (1, 2, 3, 4)
    ]
    assert [run.repetition for run in runs] == sorted(run.repetition for run in runs)
    assert len(set(orders)) == 4
    scales = [run.cell.parameters["scale"] for run in runs if run.repetition == 1]
    assert scales in ([1] * 12 + [2] * 12, [2] * 12 + [1] * 12), "the same data stay together"
    assert plan(one, TPCB).runs == runs
    assert plan(replace(one, seed=2), TPCB).runs[0] != runs[0]
    # A cell that is added leaves the order of the others.
    few, many = (
        [run.cell.fingerprint for run in plan(replace(one, clients=clients), TPCB).runs]
        for clients in ((1, 2), (1, 2, 4))
    )
    assert [one for one in many if one in few] == few


def test_patterns_choose_runs_by_test_system_and_storage() -> None:
    whole = plan(wanted(), TPCB)
    for words, found in (
        (["a"], {("a", "here"), ("a", "fast")}),
        (["A", "fast"], {("a", "fast")}),
        (["a,b", "here"], {("a", "here"), ("b", "here")}),
        (["b size=*"], {("b", "here"), ("b", "fast")}),
        (["tpcb*", "f*", "b"], {("b", "fast")}),
    ):
        runs = values.chosen_plan(whole, patterns(Words("tpcb", only=tuple(words))))
        assert {(run.cell.system.name, run.cell.storage.name) for run in runs} == found
        assert all(run is whole.runs[run.position] for run in runs)


def test_a_storage_is_chosen_by_its_name_as_it_is_shown_and_without_the_note_behind() -> None:
    """A word that chooses nothing, also beside one that does, is a misspelling."""
    names = ("loop[fs=ext4]", "disk (modelled)")
    others = tuple(StorageChoice(name, "tmpfs") for name in names)
    whole = plan(wanted(storages=(*others, HERE)), TPCB)
    for pattern, name in zip(("loop[fs=ext4]", "disk"), names, strict=True):
        found = values.chosen_plan(whole, [[pattern]])
        assert {run.cell.storage.name for run in found} == {name}
    with pytest.raises(ArgumentError, match="--only dsk: no run has") as refused:
        values.chosen_plan(whole, [["here", "dsk"]])
    assert "tpcb-like, a, " in str(refused.value.hint)


def test_patterns_of_two_choices_choose_what_either_does_and_are_kept_where_they_fit() -> None:
    whole = plan(wanted(systems=(A, B), storages=(HERE, FAST)), TPCB)
    one, other = [["a"], ["here"]], [["b"], ["fast"]]
    two = [*values.chosen_plan(whole, one), *values.chosen_plan(whole, other)]
    found = values.chosen_plan(whole, values.either_of_patterns(one, other))
    assert [run.position for run in found] == sorted(run.position for run in two)
    assert values.either_of_patterns(one, ()) == () and values.either_of_patterns((), other) == ()
    assert values.patterns_of_use(whole, [["c"], ["here"]]) == (["here"],)


def test_the_quick_version_has_quick_values_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "sizes.toml"
    file.write_text(FILE)
    whole, _ = experiment(Words(str(file)))
    assert (whole.parameters["scale"], whole.repetitions, whole.is_quick) == ((10, 100), 3, False)
    quick, _ = experiment(Words(str(file), quick=True))
    assert quick == replace(
        whole,
        parameters={"scale": (1,)},
        repetitions=1,
        driving={"duration_s": 2},
        is_quick=True,
        scaled=quick.scaled,
    )
    changed = {one.name: (one.full, one.quick) for one in quick.scaled}
    assert changed["scale"] == ("10, 100", "1")
    assert changed["duration_s"] == ("60", "2")
    assert described(quick.scaled).startswith("quick: scale 10, 100 → 1; ")
    given, _ = experiment(Words(str(file), quick=True, set=("scale=5",), duration_s=7))
    assert (given.parameters["scale"], given.driving["duration_s"]) == ((5,), 7)
    assert described(given.scaled) == (
        "quick: warm_up_s 2 → 1; repetitions 3 → 1; asked: scale 10, 100 → 5; duration_s 60 → 7"
    )
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1")
    with pytest.raises(ArgumentError, match="declares no quick values"):
        experiment(Words(str(script), on=("null",), quick=True))


def test_tests_have_quick_clients_and_driving_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "sizes.toml"
    file.write_text(FILE.partition("[quick]")[0])
    for words, durations in (
        (Words(str(file), quick=True), {2}),
        (Words(str(file), quick=True, duration_s=7), {7}),
        (Words("tpcb", quick=True), {2}),
    ):
        wanted, workload = experiment(words)
        runs = plan(wanted, workload).runs
        assert {run.cell.driving.duration_s for run in runs} == durations, words
        assert plan(wanted, workload_of(wanted)).runs == runs, "as it is run"
    for words, clients in (
        (Words("bibsql.parallel", quick=True), [2, 8]),
        (Words("bibsql.parallel", quick=True, clients="3"), [3]),
    ):
        assert [run.cell.clients for run in plan(*experiment(words)).runs] == clients


@pytest.mark.parametrize("name", ["bibsql", "e831", "glidemon", "ssd", "tpcb"])
def test_every_workload_has_a_quick_version_that_is_no_larger(name: str) -> None:
    whole, workload = experiment(Words(f"{name}.*", on=("null",)))
    quick, quickly = experiment(Words(f"{name}.*", on=("null",), quick=True))
    assert quick.is_quick and len(plan(quick, quickly).runs) <= len(plan(whole, workload).runs)
    for test in workload.tests.values():
        small = quickly.test(test.name)
        assert max(small.clients) <= max(test.clients)
        ends_s = (test.driving.planned_s or 0.0, small.driving.planned_s or 0.0)
        assert ends_s[1] <= ends_s[0]
        for parameter in workload.parameters_of(test):
            if isinstance(parameter.quick, int | float):
                levels = test.defaults.get(parameter.name) or (parameter.default,)
                assert parameter.quick <= max(levels), (test.name, parameter.name)


def test_a_quick_version_of_a_test_is_checked_with_its_line(tmp_path: Path) -> None:
    folder = tmp_path / "tpcb"
    shutil.copytree(TPCB.folder, folder)
    file = folder / "workload.toml"
    lines = file.read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("quick = {"))
    for declared, complaint in (
        ("quick = { duration_s = -1 }", "duration_s"),
        ("quick = { clients = [0] }", "clients"),
        ("quick = { client = [1] }", "unknown key 'client'"),
        ("quick = { queue = 5, transactions = 5 }", "queue"),
    ):
        lines[place] = declared
        file.write_text("\n".join(lines) + "\n")
        with pytest.raises(ExperimentError, match=complaint) as refused:
            reader.read(str(folder))
        assert refused.value.line == place + 1


def test_the_content_of_a_run_changes_with_all_that_determines_its_result(tmp_path: Path) -> None:
    feed = tmp_path / "feed.sql"
    feed.write_text("SELECT 1")
    one = wanted(systems=(A,), storages=(HERE,), feed=str(feed))

    def contents(
        text: str = "", read: str = "", sessions: int | None = None, assay: str = "0.1",
        versions: tuple[str, str] = ("1.0", "1.0"), **changes: Any,
    ) -> str:  # fmt: skip
        experiment = replace(one, **changes)
        workload = structs.replace(TPCB, texts={**TPCB.texts, "more": text})
        known = dict(zip("ab", versions, strict=True))
        content = content_of(experiment, workload, read, known, assay, sessions)
        (run,) = content.in_plan(plan(experiment, workload)).runs
        return run.content

    same = contents()
    assert contents() == same
    assert contents(versions=("1.0", "2.0")) == same, "another system's version"
    changes: list[dict[str, Any]] = [
        {"text": "changed"}, {"read": "changed"}, {"versions": ("2.0", "1.0")}, {"assay": "0.2"},
        {"clients": (3,)}, {"seed": 2}, {"systems": (replace(A, settings={"x": "1"}),)},
        {"storages": (replace(HERE, options={"size": "1G"}),)}, {"sessions": 2},
        {"levels": {"cache": ("cold",)}}, {"levels": {"memory": (1 << 30,)}},
        {"levels": {"cpus": (1.0,)}}, {"levels": {"rtt": (0.001,)}},
    ]  # fmt: skip
    others = [contents(**each) for each in changes]
    feed.write_text("SELECT 2")
    others.append(contents())
    assert len({same, *others}) == 1 + len(others)


def test_an_experiment_is_found_again_by_its_file_and_the_options_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = command_of(Words("sizes.toml"))
    assert here == command_of(Words(str(tmp_path / "sizes.toml"), only=("a",)))
    assert here != command_of(Words("sizes.toml", quick=True))
    assert here != command_of(Words("other.toml"))
    assert command_of(Words("tpcb")) is None
    monkeypatch.chdir("/")
    assert here != command_of(Words(str(tmp_path / "sizes.toml")))


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
    script = tmp_path / "unpacked" / "one.sql"
    script.write_text("SELECT 1;\n")
    assert is_confined(script)


REFUSED = {
    "postgresql": (
        "archive_command=touch x", "Archive_Library=x", "shared_preload_libraries=x",
        "ssl_passphrase_command=x", "log_directory=x", "unix_socket_directories=x",
        "primary_conninfo=host=x", "plperl.on_init=x",
    ),
    "mariadb": (
        "general_log_file=/tmp/x", "log-bin=/tmp/x", "plugin_load_add=x", "loose-plugin-dir=x",
        "init_file=x", "init-connect=SELECT 1", "wsrep_notify_cmd=x", "tmpdir=x",
        "secure_file_priv=x",
    ),
    "mysql": ("slow_query_log_file=/tmp/x", "early_plugin_load=x"),
    "duckdb": (
        "temp_directory=/tmp", "log_query_path=x", "extension_directory=x",
        "enable_external_access=true", "profile_output=x", "lock_configuration=false",
    ),
    "cassandra": (
        "audit_logging_options.archive_command=x",
        "cdc_raw_directory=x",
        "user_defined_functions_enabled=true",
    ),
}  # fmt: skip
TAKEN = {
    "postgresql": ("shared_buffers=1GB", "fsync=off", "synchronous_standby_names=", "TimeZone=UTC"),
    "mariadb": ("innodb_flush_log_at_trx_commit=2", "log_bin=mysql-bin", "general_log=ON"),
    "mysql": ("log_bin=OFF", "innodb_buffer_pool_size=1G"),
    "duckdb": ("threads=2", "memory_limit=1GB"),
    "sqlite": ("journal_mode=wal",),
    "cassandra": ("commitlog_sync=batch", "concurrent_writes=16"),
}


@pytest.mark.slow
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
    nowhere = SystemChoice(name, programs="/nowhere", build="/nowhere")
    if isinstance(system, SeveralVersions):
        with pytest.raises(NotOnThisMachine, match="there is no directory /nowhere"):
            lab._refuse(nowhere)


_SSD = "ssd=loop[fs=ext4,size=200M]"


def _words(*levels: str, on: str = "postgresql", storage: str = _SSD) -> Words:
    return Words("tpcb", on=(on,), storage=(storage,), log_storage=levels)


def test_levels_are_storages_names_of_storages_or_none() -> None:
    experiment, workload = asked(_words("none,ssd", "tmpfs[size=64M]"))
    assert [one and one.name for one in experiment.log_storages] == [None, "ssd", "tmpfs[size=64M]"]
    assert experiment.log_storages[1] == experiment.storages[0]
    runs = plan(experiment, workload).runs
    assert [run.cell.system_label for run in runs] == [
        "postgresql",
        "postgresql log_storage=ssd",
        "postgresql log_storage=tmpfs[size=64M]",
    ]
    assert len({run.cell.fingerprint for run in runs}) == 3
    assert len({run.seed for run in runs}) == 1, "they do the same work"


def test_a_file_names_storages_that_it_declares(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = (
        'workload = "tpcb"\nsystems = ["postgresql"]\nstorages = ["here"]\n'
        'log_storage = ["none", "fast"]\n[storage.fast]\nkind = "tmpfs"\nsize = "64M"\n'
    )
    file.write_text(text)
    experiment, _ = asked(Words(str(file)))
    assert [one and one.name for one in experiment.log_storages] == [None, "fast"]
    assert [one.name for one in experiment.storages] == ["here"]
    file.write_text(text.replace('"fast"]', '"fats"]'))
    with pytest.raises(ExperimentError, match="fats") as caught:
        asked(Words(str(file)))
    assert caught.value.hint == "did you mean 'fast', which is declared in this file?"


def test_levels_that_cannot_be() -> None:
    for words, reason in (
        (_words("ssd,ssd"), "--log-storage: ssd is given twice"),
        (_words("ssd", on="sqlite"), "--log-storage does not apply to tpcb.tpcb-like: none of its"),
        (_words("floppy"), "floppy"),
    ):
        with pytest.raises(ArgumentError, match=reason):
            asked(words)


@pytest.mark.parametrize(
    ("system", "kind", "reason"),
    [
        (SystemChoice("sqlite"), "here", "its log cannot be on another storage than its data"),
        (SystemChoice("postgresql", url="postgresql://h/d"), "here", "Assay does not start it"),
        (SystemChoice("mariadb", options={"engine": "Aria"}), "here", "only InnoDB has a redo log"),
        (SystemChoice("mysql", settings={"innodb-log-group-home-dir": "/x"}), "here",
         "leave innodb-log-group-home-dir out"),
        (SystemChoice("postgresql"), "raw", "the storage 'dev' has no file system"),
    ],
)  # fmt: skip
def test_systems_that_are_refused(system: SystemChoice, kind: str, reason: str) -> None:
    apart = replace(system, machine=ServerMachine(log_storage=StorageChoice("dev", kind)))
    assert reason in str(settings_validation.why_refused(apart))


def test_a_log_on_the_default_storage_is_another_cell_than_one_with_the_data() -> None:
    together = SystemChoice("postgresql")
    apart = replace(together, machine=ServerMachine(log_storage=StorageChoice()))
    assert identity.identity_of_choice(together) != identity.identity_of_choice(apart)
    erasing = ServerMachine(log_storage=StorageChoice(may_erase=True))
    assert identity.identity_of_choice(apart) == identity.identity_of_choice(
        replace(together, machine=erasing)
    )
