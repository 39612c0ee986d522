"""Every registered system and storage keeps its contract; the values of contracts merge, divide and
stop as they say."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from assay import registry, storages, systems
from assay.contracts.capabilities import CAPABILITIES, missing_capabilities
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.documents import ShapeError
from assay.contracts.driving import Driving
from assay.contracts.events import Event, RowsSent, SecondMeasured
from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.contracts.factors import FACTORS, NAMES, OF_LEVELS, VARIED, Part
from assay.contracts.plugins import ContractBroken, option_values
from assay.contracts.setting import Levels
from assay.contracts.stop import Stop, Stopped, StopReason, look
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import capabilities_of
from assay.dialects.declared import validate as validate_dialect
from assay.dialects.postgresql import PostgresqlDialect
from assay.errors import ArgumentError, Bug
from assay.experiment.choices.checked_choices import system_choice
from assay.experiment.from_command_line import Words, experiment
from assay.experiment.settings_catalogue import SETTINGS
from assay.lab import lab
from assay.load.dataset import Loading
from assay.load.row_sources.protocol import DataRequest
from assay.plan.values import Cell
from assay.provision.machine import signals
from assay.provision.machine.signals import STOP, after_teardown, stopped_by_signals
from assay.provision.running_system import provision
from assay.record import Store
from assay.record.file.kept_texts import json_text
from assay.record.runs import typed
from assay.systems import OptionSpec
from assay.systems.null.system import NULL
from assay.systems.sqlite.system import SQLITE
from assay.text.keys import field_names
from step_workloads import folder_of


@pytest.mark.parametrize("name", registry.systems())
def test_every_registered_system_keeps_its_contract(name: str) -> None:
    systems.validate(registry.system(name))


def test_every_registered_storage_keeps_its_contract() -> None:
    for name in registry.storages():
        storages.validate(registry.storage(name))


def null_but(**members: Any) -> object:
    """The null system with other members; None takes one away."""
    kept = {name: getattr(NULL, name) for name in dir(NULL) if not name.startswith("_")}
    return SimpleNamespace(
        **{name: one for name, one in {**kept, **members}.items() if one is not None}
    )


def refuses_all(choice: object) -> None:
    raise ValueError(choice)


def shows_the_password(text: str) -> None:
    raise ArgumentError(f"{text} cannot be right")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"provision": None}, "provision is missing"),
        ({"driver": "telepathy"}, "driver: the engine has none called 'telepathy'"),
        ({"name": "Null System"}, "name: expected lower-case letters"),
        ({"check": lambda: None}, "check: expected check(choice:"),
        ({"check": refuses_all}, "check() refuses the system without any option"),
        ({"capabilities": NULL.capabilities | {"magic"}}, "capabilities: 'magic' is none"),
        ({"capabilities": NULL.capabilities | {"restart"}},
         "it says that it has 'restart', and settings_of_the_data() shows not"),
        ({"option_specs": (OptionSpec("a", "z", ("x", "y"), ""),)}, "a has no help"),
        ({"option_specs": (OptionSpec("a", "z", ("x", "y"), ""),)}, "the default 'z', which is no"),
        ({"capabilities_with": lambda _choice: frozenset({"sql", "restart"})},
         "capabilities_with() gives 'restart', which is not in capabilities"),
        ({"attach": None}, "attach is missing, as ReachedByUrl has it"),
        ({"check_url": lambda text: int(text)}, "raises ValueError, not ArgumentError"),
        ({"check_url": shows_the_password}, "shows the password"),
        ({"url_schemes": ("NULL",)}, "url_schemes: expected lower-case letters"),
        ({"counters": lambda: {}}, "counters: expected counters(deployment:"),
        ({"profiles": lambda _system: {}}, "profiles: expected profiles() -> "),
        ({"table_files_bytes": lambda: 0},
         "table_files_bytes: expected table_files_bytes(deployment:"),
    ],
)  # fmt: skip
def test_violations_of_the_contract_of_a_system_are_reported(
    members: dict[str, Any], message: str
) -> None:
    with pytest.raises(ContractBroken) as broken:
        systems.validate(null_but(**members))
    assert any(message in one for one in broken.value.violations), broken.value


def test_half_an_ability_of_a_dialect_breaks_its_contract() -> None:
    class Half(PostgresqlDialect):
        name = "half"

        def lock_table(self) -> list[str]:
            return []

    with pytest.raises(ContractBroken) as broken:
        validate_dialect(Half())
    (violation,) = broken.value.violations
    assert violation.startswith("lock_table: expected lock_table(table:"), violation
    assert violation.endswith("as LocksTables has it"), violation


def values_of(choice: StorageChoice) -> None:
    option_values((), choice.options, "x")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"prepare": None, "option_specs": None}, "prepare is missing"),
        ({"check": lambda _choice: None}, "accepts an unknown option"),
        ({"option_specs": (OptionSpec("size", "2G", ("1G",), "How large."),)},
         "size has the default '2G', which is not among its values"),
        ({"cut_power": lambda _prepared: None}, "restore_power is missing, as PowerCut has it"),
    ],
)  # fmt: skip
def test_violations_of_the_contract_of_a_storage_are_reported(
    members: dict[str, Any], message: str
) -> None:
    whole = {"name": "x", "option_specs": (), "check": values_of, "prepare": lambda _choice: None}
    there = {name: one for name, one in {**whole, **members}.items() if one is not None}
    with pytest.raises(ContractBroken, match=message):
        storages.validate(SimpleNamespace(**there))


def test_a_test_that_needs_a_missing_capability_is_refused_with_the_reason() -> None:
    assert missing_capabilities(["sql", "restart"], "sqlite", SQLITE.capabilities) is None
    assert missing_capabilities(["sql", "restart", "foreign keys"], "null", NULL.capabilities) == (
        "null does not support restart (a private server can be stopped and started again on its "
        "data), foreign keys (a table can refer to rows of another)"
    )
    with pytest.raises(ArgumentError, match="unknown capability 'tansactions'") as unknown:
        missing_capabilities(["tansactions"], "null", NULL.capabilities)
    assert all(name in str(unknown.value.hint) for name in CAPABILITIES)


def test_an_option_can_remove_capabilities() -> None:
    mariadb = registry.system("mariadb")
    assert "transactions" in capabilities_of(mariadb, SystemChoice("mariadb"))
    without = SystemChoice("mariadb", options={"engine": "MyISAM"})
    assert "transactions" not in capabilities_of(mariadb, without)
    assert "bulk load" in capabilities_of(mariadb, without)


STORAGES = [StorageFacts(name, "here", f"/{name}") for name in ("one", "two", "three")]
NODES = tuple(
    Node(f"node {pid}", storage, pid) for pid, storage in zip((11, 12, 13), STORAGES, strict=True)
)
ADDRESS = Address("postgresql", host="10.0.0.1", port=5432, user="reader", password="known to few")
ENDPOINTS = (
    ADDRESS,
    structs.replace(ADDRESS, host="10.0.0.2"),
    structs.replace(ADDRESS, port=5433),
)


def deployment(*endpoints: Address) -> Deployment:
    return Deployment(
        system="cluster",
        label="cluster",
        nodes=NODES,
        endpoints=endpoints,
        version="1",
        options={},
        settings_asked={},
        settings={},
    )


def test_the_engine_gets_all_endpoints_and_one_login() -> None:
    """The record has every node, and no password."""
    alone = deployment(ADDRESS).for_engine(["SET a = 1"])
    assert "endpoints" not in alone.plain
    assert (alone.host, alone.session_statements) == ("10.0.0.1", ("SET a = 1",))
    many = deployment(*ENDPOINTS)
    endpoints = many.for_engine(["SET a = 1"]).endpoints
    assert [(one.host, one.port) for one in endpoints] == [
        ("10.0.0.1", 5432), ("10.0.0.2", 5432), ("10.0.0.1", 5433),
    ]  # fmt: skip
    assert all(one.session_statements == ("SET a = 1",) for one in endpoints)
    for wrong in ((), (ADDRESS, structs.replace(ADDRESS, user="another"))):
        with pytest.raises(Bug, match="endpoint"):
            deployment(*wrong)
    document = many.for_record()
    kept = json_text(document)
    assert "known to few" not in kept and '"name": "node 13"' in kept
    assert [one["port"] for one in document["endpoints"]] == [5432, 5432, 5433]
    assert document["address"] == document["endpoints"][0]
    assert (document["server_pid"], document["storage"]) == (11, STORAGES[0])


@pytest.mark.parametrize(
    ("word", "is_embedded"),
    [("sqlite", True), ("null", True), ("null:///", True), ("null[protocol=postgresql]", False)],
)
def test_is_embedded_means_in_this_process(word: str, is_embedded: bool) -> None:
    choice = system_choice(word)
    with provision(choice, StorageChoice(), connections=1) as made:
        assert made.is_embedded == is_embedded
        kept = typed.deployment(json.loads(json_text(made.for_record())), "deployment")
        assert kept == made
        request = DataRequest(
            {}, "generated", "", "f", 0, rows_expected={"t": 10**9}, is_divisible=True
        )
        assert Loading(sessions=4).sessions_for(made, request) == (1 if is_embedded else 4)


def test_a_deployment_that_cannot_be_is_refused_with_its_key() -> None:
    kept = json.loads(json_text(deployment(Address("null", unix="/s")).for_record()))
    for key, value, said in (
        ("nodes", [], "needs a node"),
        ("version", 3, "version"),
        ("endpoints", [{"driver": "null", "port": "x"}], "port"),
    ):
        with pytest.raises(ShapeError, match=f"kept.*{said}"):
            typed.deployment({**kept, key: value}, "kept")


def test_the_part_of_a_cell_has_the_level() -> None:
    parts = {Part.DRIVING: Driving, Part.CELL: Cell}
    for factor in FACTORS:
        if kind := parts.get(factor.part):
            assert factor.column in (field_names(kind) or ()), factor.name
    assert not set(OF_LEVELS) & {one.name for one in fields(Cell)}, "it would have two levels"


def test_every_setting_with_levels_is_a_factor_and_can_be_asked_for() -> None:
    asked = {one.asked for one in FACTORS if one.asked}
    with_levels = {
        one.experiment_field or name
        for name, one in SETTINGS.items()
        if isinstance(one.kind, Levels)
    }
    assert with_levels <= asked
    with_options = {one.factor.name for one in SETTINGS.values() if one.factor}
    assert set(VARIED) <= with_options, "no option asks for it"
    known = {one.name for one in fields(Experiment)}
    assert asked - {one.asked for one in VARIED.values()} <= known
    assert len(NAMES) == len(set(NAMES))


GATE = StopReason("the gate", 1)


def test_a_wait_ends_when_another_thread_asks() -> None:
    stop = Stop()
    threading.Timer(0.2, stop.ask, [GATE]).start()
    with pytest.raises(Stopped) as caught:
        stop.wait(100_000)  # a wait that did not end would reach the limit of a test
    assert caught.value.reason == GATE


def test_a_signal_does_not_interrupt_who_looks_at_the_token_and_a_second_one_does() -> None:
    with stopped_by_signals():
        with STOP.looked_at():
            signal.raise_signal(signal.SIGINT)
            assert STOP.is_asked
            with pytest.raises(Stopped):
                signal.raise_signal(signal.SIGINT)
        with pytest.raises(Stopped):
            STOP.check()
    assert not STOP.is_asked


def test_a_signal_does_not_interrupt_an_experiment_between_two_looks() -> None:
    with stopped_by_signals(), pytest.raises(Stopped), STOP.guides():
        signal.raise_signal(signal.SIGTERM)
        with after_teardown():
            look()
        with pytest.raises(Stopped, match="SIGTERM"):
            look()
        look()  # a teardown


def test_what_does_not_look_at_the_token_is_interrupted_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "PATIENCE_S", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    with stopped_by_signals(), STOP.guides(), STOP.of_run(17):
        signal.raise_signal(signals.run_signal(17))
        with pytest.raises(Stopped):
            time.sleep(60)
    with stopped_by_signals(), pytest.raises(Stopped, match="SIGTERM"), STOP.guides():
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_run_is_stopped_alone_and_work_goes_on() -> None:
    with stopped_by_signals(), STOP.guides():
        with STOP.of_run(17):
            signal.raise_signal(signals.run_signal(17))
            with pytest.raises(Stopped) as caught:
                look()
            assert caught.value.reason.run == 17
            look()  # its teardown
        assert not STOP.is_asked
        look()
        with STOP.of_run(18):
            signal.raise_signal(signals.run_signal(17))
            assert not STOP.is_asked, "it came too late, and is not for this run"
        signal.raise_signal(signals.run_signal(18))
        assert not STOP.is_asked, "nor between two"
    # A signal ends all, also while a run is stopped.
    with stopped_by_signals(), pytest.raises(Stopped, match="SIGTERM"), STOP.guides():
        with STOP.of_run(17):
            signal.raise_signal(signals.run_signal(17))
            signal.raise_signal(signal.SIGTERM)
        STOP.check()


@pytest.mark.parametrize("kind", [RowsSent, pytest.param(SecondMeasured, marks=pytest.mark.slow)])
def test_an_experiment_ends_when_it_is_asked_to(kind: type[Event], tmp_path: Path) -> None:
    """No signal is needed, while it loads and while clients work: a page, a deadline or a gate may
    ask."""
    stop, records = Stop(), tmp_path / "r.sqlite"
    test = 'scripts = ["read"]\nduration_s = 600\n'
    toml = folder_of(tmp_path / "workload", test) / "workload.toml"
    rows = 'rows = "100000000"' if kind is RowsSent else 'rows = "10"'
    toml.write_text(toml.read_text().replace('rows = "10"', rows))
    asked, _ = experiment(Words(str(toml.parent), on=("null",)))

    def ask(event: Event) -> None:
        if isinstance(event, kind):
            stop.ask(GATE)

    with pytest.raises(Stopped, match="the gate"):
        lab.run(asked, records=records, sinks=[ask], stop=stop)
    with Store(records, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.reason) == ("interrupted", "the gate")
    assert kind is RowsSent or (run.driven is not None and run.driven.outcomes.ok > 0)
