"""What an experiment answers: a sentence for each factor, which claims no more than the numbers;
and how the levels of a factor are named."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.comparison import differences, unequal_work
from assay.comparison.compare_sides import compare
from assay.comparison.conclusions import Question, questions
from assay.comparison.sentences import TOGETHER, answers, first_said, ratio_words, times_words
from assay.comparison.sides import Difference, side
from assay.comparison.unequal_work import safeguard_clauses
from assay.contracts import durability as words
from assay.contracts.deployment import Node
from assay.contracts.durability import Durability, Safeguard
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError
from assay.experiment import ServerMachine, SystemChoice, from_command_line
from assay.experiment.from_command_line import Words
from assay.judge.run import RunWarning
from assay.judge.warning_kinds import WarningKind
from assay.load.existing_data import ExistingData, ExistingTable
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs, comparison_document, comparison_report
from assay.report.build import build
from assay.report.forms import github_summary, markdown, table
from assay.report.forms import json as json_form
from assay.report.page import render as page
from assay.report.summaries import first_look
from shown_report import text_of
from two_sides import measured as of_one_system
from two_sides import within

D3, D1 = Durability("D3"), Durability("D1")
CLOSE = (1.00, 1.01, 1.02, 1.01, 1.0)
TWICE = tuple(2 * seconds for seconds in CLOSE)
RANKED = "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb; both flush every commit (D3)"
APART = (0.5, 2.0, 1.0, 0.7, 1.9)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
    return with_deployment(experiment, lambda run: {"durability": of_system[run.system]})


def with_deployment(
    experiment: ExperimentRecord, changes: Callable[[Run], Mapping[str, Any]]
) -> ExperimentRecord:
    return invented.each_run(
        experiment, lambda run: invented.changed(run, "deployment", **changes(run))
    )


def sentence(experiment: ExperimentRecord, factor: str = "system") -> str:
    (answer,) = answers([asked(experiment, factor)])
    return answer.sentence


def asked(experiment: ExperimentRecord, factor: str) -> Question:
    (question,) = (one for one in questions(experiment) if one.factor == factor)
    return question


@pytest.mark.parametrize(
    ("classes", "warnings", "said"),
    [
        ((D3, D3), [], RANKED),
        ((D1, D3), [],
         "not comparable: mariadb with postgresql; "
         "their commits are not equally durable (mariadb: D3; postgresql: D1)"),
        *(
            ((D3, D3), [(kind.id, "for 1 s")],
             "not comparable: postgresql with mariadb; on postgresql: "
             + kind.id.replace("-", " "))
            for kind in (WarningKind.OUTAGE, WarningKind.OFFERED_RATE_NOT_REACHED)
        ),
    ],
)  # fmt: skip
def test_systems_are_ranked_with_ratio_interval_and_durability_or_the_reason_is_said(
    classes: tuple[Durability, Durability],
    warnings: list[tuple[str, str]],
    said: str,
    tmp_path: Path,
) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE, classes, warnings=warnings)
    assert sentence(experiment) == said
    (conclusion,) = asked(experiment, "system").conclusions
    if said.startswith("not comparable"):
        assert not conclusion.is_decided
    if classes != (D3, D3):
        assert (conclusion.ratio, conclusion.low) == (None, None)


def test_the_gravest_reason_is_the_one_that_is_said(tmp_path: Path) -> None:
    """Clients that starved make a number unsteady; of another work it says nothing at all."""
    starved = (RunWarning(WarningKind.STARVED_CLIENTS.id, "1 of 8 clients ended 0 transactions"),)

    for name, classes, said, unsaid in (
        ("alike", (D3, D3), "starved clients", "not equally durable"),
        ("apart", (D3, D1), "not equally durable", "starved"),
    ):
        (tmp_path / name).mkdir()
        found = measured(tmp_path / name, CLOSE, TWICE, classes)
        found = invented.each_run(found, lambda run: structs.replace(run, warnings=starved))
        assert said in sentence(found) and unsaid not in sentence(found)


LOGS = {
    "postgresql": Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG),
    "mariadb": Safeguard(
        words.BINARY_LOG, words.FLUSHES_BINARY_LOG, ("log_bin = ON", "sync_binlog = 1")
    ),
}
ONE_LOGS = "mariadb writes and flushes a binary log, postgresql writes none"


def guarded(
    experiment: ExperimentRecord, safeguards: Mapping[str, Safeguard] = LOGS
) -> ExperimentRecord:
    """The systems with these safeguards; others are not known to have any."""
    own = {system: (found,) for system, found in safeguards.items()}
    return with_deployment(experiment, lambda run: {"safeguards": own.get(run.system, ())})


def differs(experiment: ExperimentRecord) -> str:
    (answer,) = answers([asked(experiment, "system")])
    return answer.other_work.replace(TOGETHER, " ")


def test_what_changes_the_work_is_said_in_the_words_of_all_systems(tmp_path: Path) -> None:
    """Also where they are not ranked, and at each number of clients once."""
    experiment = measured(tmp_path, CLOSE, TWICE, (D1, D3), clients=(1, 8))
    assert differs(experiment) == "", "nothing is known"
    assert differs(guarded(experiment)) == ONE_LOGS
    both = dict.fromkeys(LOGS, LOGS["mariadb"])
    assert differs(guarded(experiment, both)) == "", "both do"
    made = [
        (name, "c", Difference("safeguard", "binary log", LOGS[name].does, LOGS["mariadb"].does))
        for name in LOGS
    ]
    assert safeguard_clauses(made) == [
        "writes and flushes a binary log (c, mariadb), writes none (postgresql)"
    ]
    one = {"mariadb": LOGS["mariadb"]}
    assert differs(guarded(experiment, one)) == "", "of one it is not known"
    assert "writes none" not in sentence(guarded(experiment)), "it is a line of its own"


def test_what_changes_the_work_comes_first_in_a_comparison(tmp_path: Path) -> None:
    """Before all settings, of which a report lists a few, and with the settings that say so."""
    many = {f"setting_{number}": "1" for number in range(30)}
    settings = {"mariadb": many, "postgresql": dict.fromkeys(many, "2")}
    experiment = guarded(measured(tmp_path, CLOSE, TWICE))
    experiment = with_deployment(experiment, lambda run: {"settings": settings[run.system]})
    made = compare(side("A", "", [experiment]), None, between="system")
    report = comparison_report.build(made)
    assert report.facts["differs"] == "B writes and flushes a binary log, A writes none"
    first, *_ = next(one for one in report.sections if one.title == "What differs").lines
    assert " ".join(first.split()) == (
        "binary log writes no binary log → writes and flushes a binary log "
        "(log_bin = ON, sync_binlog = 1)"
    )
    kinds = [one["what"] for one in comparison_document.document(made)["differences"]]
    assert kinds[0] == "safeguard" and kinds.count("setting") == len(many)


@pytest.mark.slow
def test_every_form_has_the_sentence_and_what_explains_it(tmp_path: Path) -> None:
    experiment = guarded(measured(tmp_path, CLOSE, TWICE))
    report = build(experiment)
    for render in (markdown.render, github_summary.render, table.render, json_form.render, page):
        stream = io.StringIO()
        render(report, stream)
        text = " ".join(stream.getvalue().split())
        assert RANKED in text and ONE_LOGS in text, render
    lines = first_look.lines(experiment, report, 80, "assay report 1")
    assert lines.index(f"differs      {ONE_LOGS}") == 2, "under the answer, which takes two lines"
    (answer,) = json.loads(text_of(json_form, report))["answers"]
    assert answer["differs"] == ONE_LOGS
    (conclusion,) = answer["conclusions"]
    assert conclusion["other_work"] == [
        {
            "kind": "safeguard",
            "name": "binary log",
            "level": "writes no binary log",
            "compared_with": "writes and flushes a binary log",
        }
    ]
    assert (conclusion["level"], conclusion["direction"]) == ("postgresql", "better")
    assert conclusion["durability"] == ["D3", "D3"]


def test_equal_systems_are_not_ranked_and_what_was_seen_is_said(tmp_path: Path) -> None:
    said = sentence(measured(tmp_path, APART, APART[::-1]))
    assert said.startswith("no difference seen: ")
    assert " was 1.00 times (0.13 to 7.5) as fast as " in said
    (tmp_path / "short").mkdir()
    short = ("unreliable", "short measurement")
    limited = sentence(measured(tmp_path / "short", APART, APART[::-1], verdict=short))
    assert limited == f"{said}; the runs are unreliable"


def test_other_rows_leave_no_ranking(tmp_path: Path) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE)
    rows = {"postgresql": 1000, "mariadb": 2000}
    held = {
        name: ExistingData(before=(ExistingTable("t", count, "", False, ""),))
        for name, count in rows.items()
    }
    found = invented.each_run(
        experiment, lambda run: structs.replace(run, existing_data=held[run.system])
    )
    assert sentence(found) == (
        "not comparable: postgresql with mariadb; "
        "different rows of t (postgresql: 1000; mariadb: 2000)"
    )


def test_who_changed_the_data_that_the_others_read_is_named(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL, invented.MARIADB, invented.SQLITE])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 1.0)
    seen = {"postgresql": (5, 5), "sqlite": (5, 9), "mariadb": (9, 9)}
    held = {
        name: ExistingData(*((ExistingTable("t", rows, "", False, ""),) for rows in each))
        for name, each in seen.items()
    }
    found = sentence(
        invented.each_run(
            experiment, lambda run: structs.replace(run, existing_data=held[run.system])
        )
    )
    assert "sqlite changed the data of t, which both read" in found
    assert "measure sqlite in an experiment of its own" in found


def test_indexes_beneath_a_view_that_the_server_does_not_show_are_not_known(tmp_path: Path) -> None:
    table = ExistingTable("the tables of v", None, "", True, "", "not known (it is hidden)")
    [run, *_] = measured(tmp_path, CLOSE, TWICE).runs
    runs = [structs.replace(run, existing_data=ExistingData((table,)))]
    [found] = unequal_work.differing_indexes(runs, runs)
    [said] = unequal_work.safeguard_clauses([("A", "B", found)])
    assert said == "the indexes of the tables of v are not known (it is hidden)"


def test_a_table_that_scripts_do_not_name_was_not_counted(tmp_path: Path) -> None:
    """Where scripts are compared that leaves a verdict; elsewhere the data are not known."""
    experiment = measured(tmp_path, CLOSE, TWICE)
    sides = [
        [
            structs.replace(
                run, existing_data=ExistingData((ExistingTable(table, 5, "", False, ""), both))
            )
            for run in experiment.runs[:1]
        ]
        for table in ("plain", "indexed")
        for both in (ExistingTable("both", 7, "", False, ""),)
    ]
    for are_other_scripts, what in ((True, "tables"), (False, "data")):
        found = [
            *unequal_work.differences_of_existing_data(*sides, are_other_scripts=are_other_scripts)
        ]
        assert [(one.what, one.sentence) for one in found] == [
            (what, "rows of plain: 5 → not counted"),
            (what, "rows of indexed: not counted → 5"),
        ]
        assert differences.leave_no_verdict(found) is not are_other_scripts


def test_what_other_programs_disturbed_is_said_once_with_what_was_seen(tmp_path: Path) -> None:
    busy = [
        (
            WarningKind.OTHER_PROGRAMS.id,
            "run 1 (postgresql): other programs used 9 % of the processors",
        )
    ]
    experiment = measured(tmp_path, CLOSE, TWICE, clients=(1, 8), warnings=busy)
    assert sentence(experiment) == (
        "not decided: postgresql was 2.0 times (2.0 to 2.0) as fast as mariadb at 8 clients, "
        "2.0 times (2.0 to 2.0) at 1 client; "
        "other programs used 9 % of the processors in the worst of 20 such runs"
    )
    shown = io.StringIO()
    table.render(build(experiment), shown)
    answers_shown, _, _ = " ".join(shown.getvalue().split()).partition(" experiment ")
    assert answers_shown.count("other programs") == 1


def test_what_holds_elsewhere_is_said_with_the_places(tmp_path: Path) -> None:
    """Decided at 8 clients, in the other order at 2, not seen at 1."""
    planned = invented.plan(
        [invented.POSTGRESQL, replace(invented.MARIADB, options={})],
        clients=(1, 2, 8),
        repetitions=len(CLOSE),
    )
    elapsed = {
        ("postgresql", "here", 8): CLOSE, ("mariadb", "here", 8): TWICE,
        ("postgresql", "here", 2): TWICE, ("mariadb", "here", 2): CLOSE,
        ("postgresql", "here", 1): APART, ("mariadb", "here", 1): APART[::-1],
    }  # fmt: skip
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, elapsed)
    (few,) = answers([asked(experiment, "system")], 1)
    assert few.said.replace("\u00a0", " ") == (
        "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb at 8 clients; "
        "in another order at 2 clients, no difference seen at 1 client"
    )


def test_a_setting_of_one_system_is_a_factor_with_a_name_of_its_own(tmp_path: Path) -> None:
    """In place of systems with long names."""
    tuned = replace(invented.POSTGRESQL, settings={"jit": "off"})
    planned = invented.plan([invented.POSTGRESQL, tuned], repetitions=len(CLOSE))
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 1.0)
    assert sentence(experiment, "jit") == (
        "no difference seen: jit default was 1.00 times (1.00 to 1.00) as fast as jit off"
    )
    found = cell_runs.cells(experiment, experiment.runs)
    assert [(one.factors["system"], one.factors["jit"]) for one in found] == [
        ("postgresql", "default"), ("postgresql", "off")
    ]  # fmt: skip
    assert [one.system_label for one in found] == ["postgresql", "postgresql jit=off"]


@pytest.mark.slow
def test_the_first_chart_has_the_cells_of_which_the_first_sentence_speaks(tmp_path: Path) -> None:
    """Of storages with a chart each, that of the storage that is decided."""
    planned = invented.plan(
        [invented.POSTGRESQL, replace(invented.MARIADB, options={}), invented.SQLITE],
        (invented.HERE, invented.SSD),
        clients=(1, 8),
        repetitions=len(CLOSE),
    )
    elapsed = {
        (system, storage, clients): CLOSE if system == "sqlite" and storage == "ssd" else APART
        for system in ("postgresql", "mariadb", "sqlite")
        for storage in ("here", "ssd")
        for clients in (1, 8)
    }
    report = build(invented.experiment(tmp_path / "r.sqlite", planned, elapsed))
    said = first_said(report.questions[0])
    assert said.at["storage"] == "ssd"
    stream = io.StringIO()
    page(report, stream)
    first = stream.getvalue().partition("<figcaption>")[2].partition("</figcaption>")[0]
    titled = [figure.title for one in report.sections for figure in one.figures]
    assert titled.index(first) > 0, titled
    (shown,) = (one for part in report.sections for one in part.figures if one.title == first)
    drawn = {run for point in shown.points for run in point.runs}
    assert all(drawn & set(runs) for runs in said.runs)


def test_a_storage_in_memory_is_named_beside_another(tmp_path: Path) -> None:
    planned = invented.plan(
        [invented.POSTGRESQL], (invented.HERE, invented.SSD), repetitions=len(CLOSE)
    )
    elapsed = {("postgresql", "here", 8): CLOSE, ("postgresql", "ssd", 8): TWICE}
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, elapsed)
    memory = StorageFacts("here", "tmpfs", "/data", "tmpfs", "tmpfs")
    in_memory = {"nodes": (Node("node", memory),)}
    experiment = with_deployment(experiment, lambda run: in_memory if run.storage == "here" else {})
    assert sentence(experiment, "storage") == (
        "storage here is 2.0 times (2.0 to 2.0) as fast as storage ssd; "
        "storage here: memory, where all is lost with the power"
    )


def test_each_number_of_clients_is_named_and_numbers_compare_their_ends(tmp_path: Path) -> None:
    experiment = measured(tmp_path, CLOSE, TWICE, clients=(1, 2, 8))
    assert sentence(experiment).startswith(
        "postgresql is 2.0 times (2.0 to 2.0) as fast as mariadb at 8 clients, "
        "2.0 times (2.0 to 2.0) at 2 clients, 2.0 times (2.0 to 2.0) at 1 client; "
    )
    assert sentence(experiment, "clients").startswith(
        "throughput at 8 clients is 8.0 times (8.0 to 8.0) that at 1 client on postgresql, "
        "8.0 times (8.0 to 8.0) on mariadb; it still rises at 8 clients; all flush"
    )
    (few,) = answers([asked(experiment, "system")], 1)
    assert few.said.replace("\u00a0", " ").endswith("; likewise at 2 clients and at 1 client")


def test_digits_of_a_ratio() -> None:
    shown = {0.0123: "0.012", 0.97: "0.97", 1.04: "1.04", 4.56: "4.6", 123: "120", 2e4: "many"}
    assert {ratio: ratio_words(ratio) for ratio in shown} == shown


def test_an_interval_of_a_thousand_times_is_too_wide_to_use() -> None:
    assert times_words(2.0, 0.1, 99.0).endswith(f"(0.10{TOGETHER}to{TOGETHER}99)")
    assert times_words(2.0, 0.1, 100.0).endswith("(interval too wide to use)")


def test_memory_and_profiles_are_compared_by_the_names_and_levels_of_the_options() -> None:
    machines = (ServerMachine(), ServerMachine(memory_bytes=1 << 30))
    systems = [replace(invented.POSTGRESQL, machine=machine) for machine in machines]
    (cell,) = within(of_one_system("a", systems=systems), "memory=none,1GB").cells
    assert cell.name == "postgresql, here, 8 clients" and "memory_bytes" not in cell.factors
    profiles = Words("ssd.insert", on=("sqlite",), set=("sqlite.profile=none,tuned",))
    found = of_one_system("b", systems=from_command_line.experiment(profiles)[0].systems)
    (cell,) = within(found, "profile=none,tuned").cells
    assert (cell.name, cell.factors["profile"]) == ("sqlite, here, 8 clients", "none")
    with pytest.raises(ArgumentError, match="no level 'paper' of profile"):
        within(found, "profile=none,paper")


def test_levels_of_a_setting_are_compared_by_its_name() -> None:
    """With or without its system; where it was not asked for, it is at its default."""
    systems = [
        SystemChoice("postgresql", settings={"jit": "on", "synchronous_commit": "off"}),
        SystemChoice("postgresql", settings={"jit": "on"}),
    ]
    found = of_one_system("a", (1.0, 1.0), systems=systems)
    for between in ("synchronous_commit", "postgresql.synchronous_commit"):
        made = within(found, between)
        assert (made.a.title, made.b.title) == (
            "postgresql.synchronous_commit off, ",
            "postgresql.synchronous_commit default, ",
        )
        assert [cell.name for cell in made.cells] == ["postgresql jit=on, here, 8 clients"]
        assert not made.unequal
    both = [SystemChoice(name, settings={"jit": "on"}) for name in ("postgresql", "mariadb")]
    with pytest.raises(ArgumentError, match="several systems have a setting 'jit'") as raised:
        within(of_one_system("b", (1.0,), systems=both), "jit")
    assert raised.value.hint == "name one: --between mariadb.jit or --between postgresql.jit"


def test_a_level_that_is_not_there_is_refused() -> None:
    one = of_one_system("a", (1.0,), clients=(1, 2, 4))
    for between, found in (
        ("clients", "found 3: 1, 2, 4"),
        ("storage", "expected two levels of storage, found 1"),
        ("clients=1,9", "no level '9'"),
        ("clients=1", "expected two levels"),
        ("clents", "no factor 'clents'"),
    ):
        with pytest.raises(ArgumentError, match=found):
            within(one, between)
    assert [cell.name for cell in within(one, "clients=1,4").cells] == ["postgresql, here"]


def with_rates(*rates: Any) -> ExperimentRecord:
    """A run with each level of a parameter."""
    clients = tuple(range(1, 1 + len(rates)))
    return invented.each_run(
        of_one_system("a", (1.0,), clients=clients),
        lambda run: invented.of_cell(run, parameters={"rate": rates[run.clients - 1]}, clients=8),
    )


def test_levels_are_found_and_shown_as_people_write_them() -> None:
    found = with_rates(800.0, 0.25, True)
    for levels in ("800,0.25", "800.0,.250", "800,true"):
        made = within(found, f"rate={levels}")
        assert made.a.title.startswith("rate 800,")
        assert made.b.title.startswith(("rate 0.25,", "rate yes,"))
    with pytest.raises(ArgumentError) as raised:
        within(found, "rate=nan,800")
    assert raised.value.hint == "known: 800, 0.25, yes"


def test_levels_with_commas_are_named_whole() -> None:
    steps, ramp, rate, start = "0s:200,60s:800", "0s:100..900,5s:900,9s:0", "700", "0s:200"
    found = with_rates(steps, ramp, rate, start)
    for first, second in ((steps, ramp), (ramp, steps), (ramp, rate), (start, steps)):
        made = within(found, f"rate={first},{second}")
        assert made.a.title.startswith(f"rate {first},")
        assert made.b.title.startswith(f"rate {second},")
    made = within(found, "rate=0s:200,1min:800,700")
    assert made.a.title.startswith(f"rate {steps},")
    for levels in (steps, f"{steps},{steps}", "0s:200,7s:800,700", ",,700"):
        with pytest.raises(ArgumentError, match=r"expected two levels|no level") as raised:
            within(found, f"rate={levels}")
        assert f"known: {steps}, {ramp}, 700" in str(raised.value.hint)
