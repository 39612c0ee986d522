"""What an experiment with several settings says of each, over all of its grid."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import assay
import invented_records as invented
from assay.comparison.conclusions.effect_sentences import sentence
from assay.comparison.conclusions.effects import SettingEffects, effects
from assay.contracts.durability import Durability
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.forms import json as json_form
from assay.report.forms import markdown, table
from assay.report.page.document import render as page
from shown_report import text_of

NOISE = (1.0, 1.012, 0.991, 1.004, 0.997)
SETTINGS = {"jit": ("on", "off"), "work_mem": ("4MB", "64MB"), "wal_level": ("minimal", "logical")}
Levels = Mapping[str, str]


def grid(
    path: Path,
    seconds: Callable[[Levels], float],
    settings: Mapping[str, tuple[str, ...]] = SETTINGS,
    repetitions: int = 4,
) -> ExperimentRecord:
    """Every combination of the settings; ``seconds``: how long a run of it took, but for noise."""
    every = itertools.product(*settings.values())
    levels = [dict(zip(settings, one, strict=True)) for one in every]
    systems = [replace(invented.POSTGRESQL, settings=one) for one in levels]
    planned = invented.plan(systems, repetitions=repetitions)
    with Store(path / "r.sqlite") as store:
        number = invented.begin(store, planned)
        for place, run in enumerate(planned.runs):
            noise = NOISE[(place + place // 3) % len(NOISE)]
            took = seconds(run.cell.system.settings) * noise
            invented.write_run(store, run, round(took * 1e9))
        store.end_experiment()
        found = store.experiment(number)
    durable = Durability("D3")
    runs = (invented.changed(run, "deployment", durability=durable) for run in found.runs)
    return structs.replace(found, runs=tuple(runs))


def only(experiment: ExperimentRecord) -> SettingEffects:
    (found,) = effects(experiment)
    return found


def jit_alone(levels: Levels) -> float:
    return 3.0 if levels["jit"] == "on" else 1.0


def with_interaction(levels: Levels) -> float:
    is_slower = levels["jit"] == "on" and levels["work_mem"] == "4MB"
    return jit_alone(levels) * (1.5 if is_slower else 1)


def test_one_sentence_says_which_settings_matter(tmp_path: Path) -> None:
    said = sentence(only(grid(tmp_path, jit_alone)))
    assert said.startswith("jit matters: off is 3.0 times (3.0 to 3.0) as fast as on; ")
    for setting in ("work_mem", "wal_level"):
        assert f"{setting}: no difference seen (0.99 to 1.01)" in said
    assert said.endswith("no interaction seen")


def test_two_settings_that_change_each_other_s_effect(tmp_path: Path) -> None:
    found = only(grid(tmp_path, with_interaction))
    seen = [one for one in found.effects if one.is_interaction and one.is_seen]
    assert [{change.factor for change in one.of} for one in seen] == [{"jit", "work_mem"}]
    assert math.exp(abs(math.log(seen[0].ratio))) == pytest.approx(1.5, rel=0.02)
    assert "jit and work_mem interact: the ratio of jit is " in sentence(found)


@pytest.mark.slow
def test_the_combination_that_is_faster_than_all_others_is_named(tmp_path: Path) -> None:
    """Two settings are slow only together, so that the effect of each alone says little."""

    def slow_together(levels: Levels) -> float:
        is_slow = levels["jit"] == "on" and levels["work_mem"] == "4MB"
        return (9.0 if is_slow else 1.0) * (1.0 if levels["wal_level"] == "minimal" else 1.2)

    settings = {"jit": ("on", "off"), "work_mem": ("4MB", "64MB")}
    alike = only(grid(tmp_path, slow_together, {**settings, "wal_level": ("minimal",)}))
    assert alike.best == (), "three cells are alike"

    def one_is_best(levels: Levels) -> float:
        return slow_together({**levels, "wal_level": "minimal"}) * (
            0.8 if levels == {"jit": "off", "work_mem": "64MB"} else 1.0
        )

    (tmp_path / "best").mkdir()
    said = sentence(only(grid(tmp_path / "best", one_is_best, settings)))
    assert said.startswith("fastest: jit off, work_mem 64MB; ")


def test_every_form_has_sentence_and_table(tmp_path: Path) -> None:
    experiment = grid(tmp_path, with_interaction)
    report = build(experiment)
    said = sentence(only(experiment))
    for form in (table, markdown):
        shown = " ".join(text_of(form, report).split())
        assert said.split("; ")[0] in shown.replace("\\", "")
        assert "What each factor changes over all of the grid" in shown
    stream = io.StringIO()
    page(report, stream)
    assert "matters: off is" in stream.getvalue()
    (of_test,) = json.loads(text_of(json_form, report))["effects"]
    assert of_test["sentence"] == said
    assert len(of_test["effects"]) == 6
    first = of_test["effects"][0]
    assert first["of"] == [{"factor": "jit", "level": "off", "compared_with": "on"}]
    assert first["is_seen"] and first["ratio_low"] < first["ratio"] < first["ratio_high"]
    (in_python,) = assay.open(experiment.path).latest.effects
    assert in_python.effects[0].ratio == pytest.approx(first["ratio"])


def test_lower_durability_is_said_beside_the_effect(tmp_path: Path) -> None:
    experiment = grid(tmp_path, jit_alone)
    lowered = structs.replace(
        experiment,
        runs=tuple(
            invented.changed(run, "deployment", durability=Durability("D1"))
            if run.cell["system"]["settings"]["jit"] == "off"
            else run
            for run in experiment.runs
        ),
    )
    assert "as fast as on (unequal durability)" in sentence(only(lowered))


def test_durability_that_a_setting_lowers_is_said_where_none_was_measured(tmp_path: Path) -> None:
    """As on a directory, whose device other programs use as well."""
    experiment = grid(tmp_path, jit_alone)
    unmeasured = structs.replace(
        experiment,
        runs=tuple(
            invented.changed(
                run,
                "deployment",
                durability=None,
                durability_lowered_by=("fsync = off",)
                if run.cell["system"]["settings"]["jit"] == "off"
                else (),
            )
            for run in experiment.runs
        ),
    )
    assert "as fast as on (unequal durability)" in sentence(only(unmeasured))
    shown = " ".join(text_of(table, build(unmeasured), True).split())
    assert "commits are not equally durable: off: fsync = off, on: not lowered" in shown
    disturbed = (invented.disturbed(unmeasured.runs[0], 0.4), *unmeasured.runs[1:])
    assert "as fast as on (unequal durability)" in sentence(
        only(structs.replace(unmeasured, runs=disturbed))
    )


def test_runs_that_were_disturbed_decide_nothing(tmp_path: Path) -> None:
    experiment = grid(tmp_path, jit_alone)
    runs = tuple(invented.disturbed(run, 0.4) for run in experiment.runs)
    found = only(structs.replace(experiment, runs=runs))
    assert not any(one.is_seen for one in found.effects)
    assert "not decided: other programs used" in sentence(found)
    assert "jit off was 3.0 times" in sentence(found)


def test_cells_that_do_not_count_are_left_out_and_said(tmp_path: Path) -> None:
    experiment = grid(tmp_path, jit_alone)
    broken = experiment.runs[0].cell_fingerprint
    runs = tuple(
        structs.replace(run, verdict="invalid") if run.cell_fingerprint == broken else run
        for run in experiment.runs
    )
    found = only(structs.replace(experiment, runs=runs))
    assert len(found.left_out) == 1
    assert sentence(found).endswith("1 of 8 cells left out")
    assert found.effects[0].combinations == 3


def test_without_a_setting_or_a_grid_there_are_none(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL, invented.MARIADB], clients=(1, 8), repetitions=3)
    assert effects(invented.experiment(tmp_path / "a.sqlite", planned, 1.0)) == ()
    one = {"jit": ("on", "off")}
    assert effects(grid(tmp_path, jit_alone, one)) == ()


def test_two_repetitions_do_not_say_that_none_was_seen(tmp_path: Path) -> None:
    found = only(grid(tmp_path, jit_alone, repetitions=2))
    assert "2 repetitions are too few" in sentence(found)
