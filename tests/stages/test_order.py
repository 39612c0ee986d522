"""The order of set-up and teardown, with a failure at each stage, logged by a null system.

The log has a word for each event: ``storage+`` is up, ``storage-`` is taken down, ``load!`` failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import doubles
from assay import registry
from assay.contracts.events import Event, Sink, StageBegun
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.errors import ArgumentError, RunFailed, SystemMissing, SystemRefused
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.probe import measure
from assay.probe.measure import FirstUse, Flushes
from assay.provision.undo import ledger
from assay.record import Store
from assay.report.build import build
from shown_report import table_of


@pytest.fixture(autouse=True)
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with doubles.registered():
        import traced

        registry.system("traced")  # the first time, its contract is tried
        monkeypatch.setattr(traced, "EVENTS", traced.EventLog())
        yield traced.EVENTS
    assert list(ledger.state_directory().iterdir()) == [], "nothing is left"


def logged_in(events: Any) -> Sink:
    """Logs when a storage is probed and when clients are driven."""

    def log(event: Event) -> None:
        if isinstance(event, StageBegun) and event.name.startswith(("drive ", "probe ")):
            events.add(event.name[: len("drive")])

    return log


def run(
    events: Any,
    records: Path,
    on: tuple[str, ...] = ("traced",),
    first_use: FirstUse = lab.NOT_PROBED,
    **words: Any,
) -> list[str]:
    """The states of the runs, in their order; raises what ends the experiment."""
    asked, _ = experiment(Words(str(doubles.WORKLOAD), on=on, storage=("traced",), **words))
    assert asked.systems == tuple(map(SystemChoice, on))
    assert asked.storages == (StorageChoice("traced", "traced"),)
    try:
        sinks = [logged_in(events)]
        lab.run(asked, records=records, sinks=sinks, first_use=first_use)
    finally:
        with Store(records, must_exist=True) as store:
            states = [one.state for one in store.latest().runs]
    return states


WHOLE = "storage+ system+ load check drive check system- storage-"


@pytest.mark.parametrize(
    ("fails_in", "expected", "state"),
    [
        ("nothing", WHOLE, "done"),
        ("storage+", "storage+!", "failed"),
        ("system+", "storage+ system+! storage-", "failed"),
        ("load", "storage+ system+ load! system- storage-", "failed"),
        ("check", "storage+ system+ load check! system- storage-", "failed"),
        ("drive", "storage+ system+ load check drive! system- storage-", "failed"),
        ("system-", "storage+ system+ load check drive check system-! storage-", "done"),
    ],
)
def test_a_failed_run_is_torn_down_from_its_stage(
    events: Any, tmp_path: Path, fails_in: str, expected: str, state: str
) -> None:
    events.fails_in = fails_in
    try:
        states = run(events, tmp_path / "r.sqlite")
    except SystemRefused:
        assert fails_in == "system-", "behind the run's end it is no longer the run's failure"
        states = [state]
    assert (str(events), states) == (expected, [state])


@pytest.mark.parametrize("fails_in", ["storage+", "system+", "load", "check", "drive", "system-"])
def test_ctrl_c_tears_down_only_what_is_up(events: Any, tmp_path: Path, fails_in: str) -> None:
    events.fails_in, events.error = fails_in, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(events, tmp_path / "r.sqlite")
    _, _, after = str(events).partition("!")
    up = {"storage+": "", "system+": "storage-", "system-": "storage-"}
    assert after.strip() == up.get(fails_in, "system- storage-")


@pytest.mark.parametrize(
    ("fails_in", "first"),
    [
        ("load", "storage+ system+ load! system- storage-"),
        ("drive", "storage+ system+ load check drive! system- storage-"),
    ],
)
def test_the_run_after_a_failed_one_gets_a_new_system(
    events: Any, tmp_path: Path, fails_in: str, first: str
) -> None:
    events.fails_in = fails_in
    states = run(events, tmp_path / "r.sqlite", repetitions=2)
    assert (str(events), states) == (f"{first} {WHOLE}", ["failed", "done"])


def test_runs_of_one_system_share_it_and_load_again_what_was_changed(
    events: Any, tmp_path: Path
) -> None:
    states = run(events, tmp_path / "r.sqlite", repetitions=2)
    twice = "load check drive check load check drive check"
    assert (str(events), states) == (f"storage+ system+ {twice} system- storage-", ["done"] * 2)


def test_a_storage_is_probed_once_before_its_first_use(events: Any, tmp_path: Path) -> None:
    records = tmp_path / "r.sqlite"
    events.fails_in = "load"  # so that its system is brought up again
    states = run(events, records, first_use=FirstUse(0.1, again=True), repetitions=2)
    failed = "storage+ probe system+ load! system- storage-"
    assert (str(events), states) == (f"{failed} {WHOLE}", ["failed", "done"])
    with Store(records, must_exist=True) as store:
        first, second = (one.probe for one in store.latest().runs)
    assert first is not None and first == second
    assert first.storage == "traced" and first.seconds == 0.1


@pytest.mark.skipif(not measure.is_installed(), reason="fio is not installed")
def test_another_experiment_takes_its_probe_from_the_cache_and_its_record_says_so(
    events: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Flushes, "is_uneven", False)
    monkeypatch.setattr(measure, "ticks_of_others", lambda _: 0)
    for again in (False, False, True):
        run(events, tmp_path / "r.sqlite", first_use=FirstUse(0.1, again=again))
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        runs = [store.experiment(number).runs[0] for number in (1, 2, 3)]
        shown = build(store.experiment(2))
    first, second, third = (one.probe for one in runs)
    assert first and second and third and second.taken_unix_ns
    assert second == structs.replace(first, taken_unix_ns=second.taken_unix_ns)
    assert third.begun_unix_ns > first.begun_unix_ns and third.taken_unix_ns is None
    assert len({one.cell_fingerprint for one in runs}) == 1
    notes = table_of(shown, "storage_probes").notes
    assert any(note.startswith("traced: taken from the user's cache, measured ") for note in notes)


@pytest.mark.parametrize(
    ("error", "on", "states"),
    [
        (RunFailed("wrong rows"), ("traced",), ["failed", "done"]),
        (SystemMissing("no programs"), ("traced",), ["failed", "done"]),
        (ArgumentError("no such name"), ("traced", "null"), ["failed", "done"]),
        (ArgumentError("no such name"), ("traced",), None),
    ],
)
def test_after_a_failed_run_the_next_one_runs_unless_all_make_the_same_mistake(
    events: Any, tmp_path: Path, error: Exception, on: tuple[str, ...], states: list[str] | None
) -> None:
    events.fails_in, events.error = "system+", error
    records = tmp_path / "r.sqlite"
    repetitions = 2 if len(on) == 1 else 1
    if states is None:
        with pytest.raises(ArgumentError):
            run(events, records, repetitions=repetitions)
    else:
        assert run(events, records, on=on, repetitions=repetitions) == states
