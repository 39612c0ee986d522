"""The order of set-up and teardown, with a failure at each stage, logged by a null system. A story
has a word for each event: ``storage+`` is up, ``storage-`` is taken down, ``load!`` failed.

A story has a word for each event: ``storage+`` is up, ``storage-`` is taken down, ``load!`` failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import doubles
from assay import lab
from assay.errors import RunFailed, SystemMissing, SystemRefused
from assay.experiment.values import StorageChoice, SystemChoice
from assay.experiment.words import Words, experiment
from assay.progress import Silent
from assay.provision import ledger
from assay.record import Store


@pytest.fixture(autouse=True)
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with doubles.registered():
        import traced

        monkeypatch.setattr(traced, "STORY", traced.Story())
        yield traced.STORY
    assert list(ledger.state_directory().iterdir()) == [], "nothing is left"


class StoryProgress(Silent):
    """Adds to the story when clients are driven."""

    def __init__(self, story: Any) -> None:
        self._story = story

    def stage(self, name: str) -> None:
        if name.startswith("drive "):
            self._story.add("drive")


def run(story: Any, records: Path, **words: Any) -> list[str]:
    """The states of the runs, in their order; raises what ends the experiment."""
    asked, _ = experiment(
        Words(str(doubles.WORKLOAD), on=("traced",), storage=("traced",), **words)
    )
    assert asked.systems == (SystemChoice("traced"),)
    assert asked.storages == (StorageChoice("traced", "traced"),)
    try:
        lab.run(asked, records=records, progress=StoryProgress(story))
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
    story: Any, tmp_path: Path, fails_in: str, expected: str, state: str
) -> None:
    story.fails_in = fails_in
    try:
        states = run(story, tmp_path / "r.sqlite")
    except SystemRefused:
        assert fails_in == "system-", "behind the run's end it is no longer the run's failure"
        states = [state]
    assert (str(story), states) == (expected, [state])


@pytest.mark.parametrize("fails_in", ["storage+", "system+", "load", "check", "drive", "system-"])
def test_ctrl_c_tears_down_only_what_is_up(story: Any, tmp_path: Path, fails_in: str) -> None:
    story.fails_in, story.error = fails_in, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(story, tmp_path / "r.sqlite")
    _, _, after = str(story).partition("!")
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
    story: Any, tmp_path: Path, fails_in: str, first: str
) -> None:
    story.fails_in = fails_in
    states = run(story, tmp_path / "r.sqlite", repetitions=2)
    assert (str(story), states) == (f"{first} {WHOLE}", ["failed", "done"])


def test_runs_of_one_system_share_it_and_load_again_what_was_changed(
    story: Any, tmp_path: Path
) -> None:
    states = run(story, tmp_path / "r.sqlite", repetitions=2)
    twice = "load check drive check load check drive check"
    assert (str(story), states) == (f"storage+ system+ {twice} system- storage-", ["done"] * 2)


@pytest.mark.parametrize(
    ("error", "states"),
    [
        (RunFailed("wrong rows"), ["failed", "done"]),
        (SystemMissing("no programs"), ["failed", "planned"]),
    ],
)
def test_after_a_failed_run_the_next_one_runs_but_a_missing_system_ends_the_experiment(
    story: Any, tmp_path: Path, error: Exception, states: list[str]
) -> None:
    story.fails_in, story.error = "system+", error
    records = tmp_path / "r.sqlite"
    if isinstance(error, SystemMissing):
        with pytest.raises(SystemMissing):
            run(story, records, repetitions=2)
        with Store(records, must_exist=True) as store:
            assert [one.state for one in store.latest().runs] == states
    else:
        assert run(story, records, repetitions=2) == states
