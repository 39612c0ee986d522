"""What an experiment answers: a sentence for each factor, which claims no more than the numbers."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import invented_records as invented
import pytest

from assay.comparison.conclusions import Question, questions
from assay.comparison.sentences import answers, number
from assay.durability.values import Durability
from assay.judge.kinds import Kind
from assay.page.document import render as page
from assay.provision.deployment import StorageFacts
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.forms import github_summary, markdown, table
from assay.report.forms import json as json_form
from assay.report.values import Report

D3, D1 = Durability("D3"), Durability("D1")
CLOSE = (1.00, 1.01, 1.02, 1.01, 1.0)
TWICE = tuple(2 * seconds for seconds in CLOSE)
APART = (0.5, 2.0, 1.0, 0.7, 1.9)


def measured(
    path: Path,
    postgresql: Sequence[float],
    mariadb: Sequence[float],
    classes: tuple[Durability, Durability] = (D3, D3),
    clients: Sequence[int] = (8,),
    **changes: object,
) -> ExperimentRecord:
    """Both systems, whose runs took these seconds; ``changes``: of all runs."""
    planned = invented.plan(
        [invented.POSTGRESQL, replace(invented.MARIADB, options={})],
        clients=clients,
        repetitions=len(postgresql),
    )
    elapsed = {
        (name, "here", count): seconds
        for name, seconds in (("postgresql", postgresql), ("mariadb", mariadb))
        for count in clients
    }
    experiment = invented.experiment(path / "r.sqlite", planned, elapsed, **changes)
    of_system = dict(zip(("postgresql", "mariadb"), classes, strict=True))
    return replace(
        experiment,
        runs=tuple(
            invented.changed(run, "deployment", durability=of_system[run.system])
            for run in experiment.runs
        ),
    )


def sentence(experiment: ExperimentRecord, factor: str = "system") -> str:
    (answer,) = answers([asked(experiment, factor)])
    return answer.sentence


def asked(experiment: ExperimentRecord, factor: str) -> Question:
    (question,) = (one for one in questions(experiment) if one.factor == factor)
    return question


def test_the_better_system_with_its_ratio_interval_and_durability(tmp_path: Path) -> None:
    assert sentence(measured(tmp_path, CLOSE, TWICE)) == (
        "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb; both flush every commit (D3)"
    )


def test_every_form_has_the_sentence(tmp_path: Path) -> None:
    report = build(measured(tmp_path, CLOSE, TWICE))
    said = "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb; both flush every commit (D3)"
    for render in (markdown.render, github_summary.render, table.render, json_form.render, page):
        stream = io.StringIO()
        render(report, stream)
        assert said in " ".join(stream.getvalue().split()), render
    (answer,) = json.loads(written(report))["answers"]
    (conclusion,) = answer["conclusions"]
    assert (conclusion["level"], conclusion["direction"]) == ("postgresql", "better")
    assert conclusion["durability"] == ["D3", "D3"]


def written(report: Report) -> str:
    stream = io.StringIO()
    json_form.render(report, stream)
    return stream.getvalue()


def test_equal_systems_are_not_ranked_and_no_ratio_is_said(tmp_path: Path) -> None:
    said = sentence(measured(tmp_path, APART, APART[::-1]))
    assert said.startswith("no difference seen between ")
    assert "as fast as" not in said


def test_other_durability_leaves_no_ranking(tmp_path: Path) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE, (D1, D3))
    assert sentence(experiment) == "not decided: durability: mariadb D3, postgresql D1"
    (conclusion,) = asked(experiment, "system").conclusions
    assert (conclusion.ratio, conclusion.low, conclusion.is_decided) == (None, None, False)


def test_one_repetition_decides_nothing(tmp_path: Path) -> None:
    assert sentence(measured(tmp_path, CLOSE[:1], TWICE[:1])) == "not decided: 1 repetition"


@pytest.mark.parametrize("kind", [Kind.OUTAGE, Kind.OFFERED_RATE_NOT_REACHED])
def test_numbers_of_other_work_are_not_ranked(kind: Kind, tmp_path: Path) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE, warnings=[(kind.id, "for 1 s")])
    assert sentence(experiment).startswith("not decided: postgresql: ")


def test_an_indicative_number_is_called_so(tmp_path: Path) -> None:
    said = sentence(measured(tmp_path, CLOSE, TWICE, verdict=("indicative", "short measurement")))
    assert said.endswith("; both flush every commit (D3); indicative")


def test_unmeasured_durability_is_said(tmp_path: Path) -> None:
    unknown = Durability(None, "no device of its own")
    said = sentence(measured(tmp_path, CLOSE, TWICE, (unknown, unknown)))
    assert said.endswith("as fast as mariadb; durability not measured")


def test_a_storage_in_memory_is_named_beside_another(tmp_path: Path) -> None:
    planned = invented.plan(
        [invented.POSTGRESQL], (invented.HERE, invented.SSD), repetitions=len(CLOSE)
    )
    elapsed = {("postgresql", "here", 8): CLOSE, ("postgresql", "ssd", 8): TWICE}
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, elapsed)
    memory = StorageFacts("here", "tmpfs", "/data", "tmpfs", "tmpfs")
    experiment = replace(
        experiment,
        runs=tuple(
            invented.changed(run, "deployment", storage=memory) if run.storage == "here" else run
            for run in experiment.runs
        ),
    )
    said = sentence(experiment, "storage")
    assert said == (
        "here is 2.0 times (2.0 to 2.0) as fast as ssd; "
        "here: memory, where all is lost with the power"
    )


def test_each_number_of_clients_is_named_and_numbers_compare_their_ends(tmp_path: Path) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE, clients=(1, 2, 8))
    assert sentence(experiment).startswith(
        "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb at 8 clients; "
        "2.0 times (2.0 to 2.0) at 2 clients; 2.0 times (2.0 to 2.0) at 1 client; "
    )
    assert sentence(experiment, "clients").startswith(
        "throughput at 8 clients is 8.0 times (8.0 to 8.0) that at 1 client on postgresql, "
        "8.0 times (8.0 to 8.0) on mariadb; all flush"
    )
    (few,) = answers([asked(experiment, "system")], 1)
    assert few.said.endswith("; of 2 other combinations 2 alike")


def test_nothing_varies_nothing_is_asked(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], repetitions=3)
    assert questions(invented.experiment(tmp_path / "r.sqlite", planned, 1.0)) == ()


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.0123, "0.012"), (0.97, "0.97"), (1.04, "1.04"), (4.56, "4.6"), (123, "120"), (2e4, "many")],
)  # fmt: skip
def test_digits_of_a_ratio(ratio: float, shown: str) -> None:
    assert number(ratio) == shown
