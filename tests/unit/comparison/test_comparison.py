"""Two invented sides: equal cells are compared, what differs is named, machines first."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec import structs

import invented_records as invented
import observations
from assay.cli.commands.compare import _insist_on_cells
from assay.comparison import conditions, differences, factors
from assay.comparison.differences import mean_the_same
from assay.comparison.sides import Comparison, Direction
from assay.contracts.experiment import OF_SCRIPTS
from assay.errors import ArgumentError
from assay.experiment import ScriptFile, ServerMachine, SystemChoice
from assay.judge.run import ScriptRecord
from assay.judge.statistics.estimate import Design
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs, comparison_document
from assay.report import comparison_report as report
from assay.report.forms import markdown
from shown_report import text_of
from two_sides import (
    FAST,
    HERE,
    MET,
    NOTHING,
    SLOW,
    SLOWER,
    SSD,
    UNKNOWN,
    answers,
    compared,
    in_words,
    judged,
    measured,
    of_sides,
    on_storages,
    shown,
    within,
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_slower_side_is_called_slower() -> None:
    made = compared(measured("a"), measured("b", SLOW))
    (cell,) = made.cells
    assert cell.primary.metric.name == "throughput_per_s"
    assert cell.primary.verdict == "slower" and cell.primary.direction is Direction.WORSE
    assert cell.primary.estimate and cell.primary.estimate.design is Design.INDEPENDENT
    assert cell.primary.estimate.ratio == pytest.approx(1 / 1.195, rel=0.01)
    assert "not interleaved, so unreliable" in shown(made)
    for row in comparison_document.rows(made):  # means have no rests of rounding
        for value in (row["a"], row["b"]):
            assert value is None or len(repr(value)) <= 15, row
            assert row["unit"] != "count" or value is None or value == int(value)


def test_medians_that_say_the_opposite_are_named() -> None:
    """A report shows medians."""
    a, b = measured("a", (1.0, 1.0, 2.0)), measured("b", (1.1, 1.1, 1.1))
    words = "by medians, as in assay report, the other side is ahead"
    assert words in in_words(compared(a, b))
    assert words not in in_words(compared(a, measured("c", (0.5, 0.5, 0.5))))


def test_interleaved_repetitions_are_pairs() -> None:
    """A machine that becomes slower with each repetition hides nothing."""
    drift = (1.0, 1.3, 1.6, 2.0, 2.5)
    made = within(on_storages("a", drift, tuple(one * 1.1 for one in drift)), "storage")
    primary = made.cells[0].primary
    assert primary.estimate and primary.estimate.design is Design.PAIRED
    assert primary.estimate.ratio == pytest.approx(1 / 1.1)
    assert primary.verdict == "slower" and "interleaved" in shown(made)


def test_experiments_by_turns_are_pairs_and_one_after_the_other_are_not() -> None:
    every = [measured(f"{s}", (s,)) for s in (1.0, 1.5, 1.1, 1.6, 1.2, 1.7)]
    for a, b, design in (
        (every[0::2], every[1::2], Design.PAIRED),
        (every[:3], every[3:], Design.INDEPENDENT),
    ):
        estimate = of_sides(a, b).cells[0].primary.estimate
        assert estimate and estimate.design is design


def test_two_machines_compare_and_what_differs_between_them_comes_first() -> None:
    other = {"cpu_model": "Invented 7000", "memory_bytes": 8 * 10**9, "kernel": "6.5.0"}
    slow, quick = invented.probe("here", 100.0), invented.probe("here", 900.0)
    a = measured("a", probes={"here": slow})
    made = compared(a, measured("b", SLOW, machine=other, probes={"here": quick}))
    assert [one.name for one in made.machines] == [*other, "here, flushes_per_s"]
    lines = shown(made).splitlines()
    first = next(place for place, line in enumerate(lines) if "Invented 9000" in line)
    assert "not the same: cpu_model: Invented 9000 → Invented 7000" in lines[first]
    assert first < lines.index("Ratios")
    assert made.cells[0].primary.verdict == "slower"
    assert answers(made, SLOWER) == [UNKNOWN]
    assert answers(made, SLOWER, despite=["machine"]) == [MET]


def test_unequal_cells_are_said_to_differ_in_what() -> None:
    a, b = measured("a", clients=(8,)), measured("b", clients=(16,))
    made = compared(a, b)
    assert not made.cells
    assert [(one.side, one.nearest) for one in made.unequal] == [
        ("A", "postgresql, here, 16 clients"), ("B", "postgresql, here, 8 clients"),
    ]  # fmt: skip
    assert [one.sentence for one in made.unequal[0].differences] == ["clients: 8 → 16"]
    assert "clients: 8 → 16" in shown(made)
    (cell,) = compared(a, b, between="clients").cells
    assert cell.primary.estimate is not None
    a = measured("many", (1.0,), clients=tuple(range(1, 31)))
    made = compared(a, measured("c", (1.0,), clients=(40,)))
    assert "only in A  27 further cells: --detail" in shown(made)
    assert len(shown(made).splitlines()) < 20 < len(shown(made, detail=True).splitlines())


def test_a_script_is_known_by_its_content_or_else_by_its_path() -> None:
    def of_script(run: Run, path: str, content: str) -> Run:
        scripts = (ScriptFile(path, 1, content),)
        known = "of its scripts" if content else ""
        run = structs.replace(run, workload=path, is_ad_hoc=True, cell_fingerprint=path)
        return invented.of_cell(run, workload=path, workload_content=known, scripts=scripts)

    same, unpacked, edited = (
        factors.identifying(of_script(measured("a").runs[0], path, content))
        for path, content in (("q.sql", "d1"), ("/tmp/x/q.sql", "d1"), ("q.sql", "d2"))
    )
    assert not factors.differing([same, unpacked])
    assert factors.differing([same, edited]) == ["scripts"]
    found = differences.of_unequal_cells(same, edited)[0].sentence
    assert found == "scripts: q.sql (d1) → q.sql (d2)"
    sides = [
        invented.each_run(measured(name), lambda run, path=path: of_script(run, path, ""))
        for name, path in (("a", "x.sql"), ("b", "f/x.sql"))
    ]
    with pytest.raises(ArgumentError, match=r"expected two scripts, found x\.sql with the same"):
        compared(sides[0], sides[0], between="script")
    made = compared(*sides)
    assert "scripts: x.sql → f/x.sql" in in_words(made)
    assert [one.name for one in made.unequal[0].differences] == ["scripts"]


def test_what_was_not_measured_has_no_data_that_differ() -> None:
    """The run that was begun is named, not one that was only planned."""

    def not_measured(run: Run) -> Run:
        is_begun = run.repetition == 2
        state, reason = ("interrupted", "process ended") if is_begun else ("planned", "")
        begun = 1 if is_begun else None
        return structs.replace(run, begun_unix_ns=begun, state=state, reason=reason, **NOTHING)

    (cell,) = compared(measured("a"), invented.each_run(measured("b"), not_measured)).cells
    assert cell.primary.reason == "B was not measured: run 2 interrupted (process ended)"
    assert not cell.differences and not cell.blocked_by


def test_other_data_are_not_compared_unless_it_is_asked() -> None:
    a, b = measured("a"), measured("b", SLOW, dataset={"fingerprint": "e" * 64})
    made = compared(a, b)
    assert made.cells[0].primary.verdict.startswith("not comparable: input of the data")
    assert answers(made, SLOWER) == [UNKNOWN]
    assert compared(a, b, despite=["data"]).cells[0].primary.verdict == "slower"


def with_settings(name: str, found: dict[str, str], **more: Any) -> ExperimentRecord:
    return measured(name, deployment={"settings": found, **more})


def settings_that_differ(made: Comparison) -> list[str]:
    return [one.sentence for one in made.cells[0].differences if one.what == "setting"]


def test_a_setting_that_one_side_recorded_is_at_its_default_on_the_other() -> None:
    """PostgreSQL records those that are not at their default. Values may be paths, but for those of
    the run's own directory."""
    own = "/var/tmp/assay-9f86d081884c/data"
    of_a = {"max_connections": "1000", "log_timezone": "Etc/UTC", "data": own}
    of_b = {**of_a, "log_statement": "all", "log_timezone": "Europe/Vienna", "track_io_timing": ""}
    changed = {**of_b, "data": own.replace("9f", "0a")}
    made = compared(with_settings("a", of_a), with_settings("b", changed))
    assert settings_that_differ(made) == [
        "log_timezone: Etc/UTC → Europe/Vienna",
        "log_statement: default → all",
        "track_io_timing: default → empty",
    ]
    unknown = with_settings("c", {}, settings_unknown="it does not answer")
    assert not settings_that_differ(compared(with_settings("a", of_a), unknown))


def test_changed_settings_stand_before_those_that_a_version_or_a_system_may_lack() -> None:
    of_a = {"a_gone": "1", "buffer": "128.0 MiB", "cut": "976.5 KiB", "list": '{\n  "x": 1\n}'}
    of_b = {"added": "1", "buffer": "134217728B", "cut": "10.0 MiB", "list": '{\n  "x": 2\n}'}
    a = with_settings("a", of_a)
    for b, lacks in (
        (with_settings("b", of_b, version="postgresql 2.0"), "version"),
        (measured("c", systems=[invented.MARIADB], deployment={"settings": of_b}), "system"),
    ):
        made = compared(a, b, between="" if lacks == "version" else "system")
        assert settings_that_differ(made) == [
            "cut: 976.5 KiB → 10.0 MiB",
            'list: { "x": 1 } → { "x": 2 }',
            f"a_gone: 1 → default, or not in this {lacks}",
            f"added: default, or not in this {lacks} → 1",
        ]


def test_a_setting_is_that_of_all_runs_of_a_side() -> None:
    a, b, same = (
        with_settings(name, {"buffer": size})
        for name, size in (("a", "4MB"), ("b", "64MB"), ("c", "4MB"))
    )
    assert settings_that_differ(of_sides([a, b], [same])) == ["buffer: 4MB and 64MB → 4MB"]


def test_sides_of_the_same_set_of_works_are_not_the_same_run_by_run() -> None:
    """Each side did both works; a mean over them is of neither."""
    data = [{"dataset": {"fingerprint": one * 64}} for one in "de"]
    a = [measured(f"a{place}", **changes) for place, changes in enumerate(data)]
    b = [measured(f"b{place}", SLOW, **changes) for place, changes in enumerate(data)]
    found = of_sides(a, b[::-1])
    assert not found.machines and not found.is_other_machine
    (cell,) = found.cells
    assert [one.what for one in cell.differences] == ["data"]
    assert "on each side, not run by run the same" in cell.not_comparable
    assert of_sides(a, b[::-1], despite=["data"]).cells[0].primary.verdict == "slower"


def with_scripts(experiment: ExperimentRecord, text: str) -> ExperimentRecord:
    """Its clients were fed this text."""
    script = ScriptRecord("feed", "feed.sql", text, 1)
    return invented.each_run(
        experiment,
        lambda run: structs.replace(invented.of_cell(run, feed="feed.sql"), scripts=(script,)),
    )


def test_an_edited_feed_leaves_no_verdict() -> None:
    """Its text is no part of the workload's; other systems are fed the same file."""
    a, same = (
        with_scripts(measured(name, s), "select 1;") for name, s in (("a", FAST), ("d", SLOW))
    )
    for system, between in ((invented.POSTGRESQL, ""), (invented.SQLITE, "system")):
        edited = with_scripts(measured("b", SLOW, systems=[system]), "select 2;")
        made = compared(a, edited, between=between)
        assert "text of the scripts" in made.cells[0].not_comparable
        assert answers(made, SLOWER) == [UNKNOWN]
    assert compared(a, same).cells[0].primary.verdict == "slower"


def test_a_side_that_never_did_a_type_of_transaction_has_done_other_work() -> None:
    """As where a query was cancelled each time at the limit of a statement. One that was not tried
    on a side, as a rare one of a mix may not be, is no other work."""

    def having(name: str, seconds: tuple[float, ...], **types: dict[str, int]) -> ExperimentRecord:
        found = [{"name": one, **observations.outcomes(**n)} for one, n in types.items()]
        return measured(name, seconds, observation={"outcomes_by_transaction": found})

    all_done = having("a", SLOW, quick={"ok": 5}, long={"ok": 1})
    cancelled = having("b", FAST, quick={"ok": 50}, long={"failed": 1})
    (cell,) = compared(all_done, cancelled).cells
    assert cell.not_comparable == "transactions that never ended ok: none → long"
    not_tried = having("c", FAST, quick={"ok": 50})
    assert compared(all_done, not_tried).cells[0].primary.verdict == "faster"


def test_a_run_that_was_interrupted_before_its_clients_began_is_no_other_work() -> None:
    def last_interrupted(run: Run) -> Run:
        run = invented.of_cell(run, workload_content=OF_SCRIPTS)
        if run.repetition < len(FAST):
            return run
        return structs.replace(run, state="interrupted", observation=None, scripts=())

    a, b = (with_scripts(measured(name), "select 1;") for name in "ab")
    a = invented.each_run(a, lambda run: invented.of_cell(run, workload_content=OF_SCRIPTS))
    (cell,) = compared(a, invented.each_run(b, last_interrupted)).cells
    assert (cell.not_comparable, cell.differences) == ("", ())


def test_runs_of_many_cells_that_were_not_measured_have_one_line() -> None:
    a, b = (
        invented.each_run(
            measured(name, clients=tuple(range(1, 13))),
            lambda run, kept=kept: (
                structs.replace(run, state="planned", **NOTHING)
                if run.clients > 2 and run.repetition > kept
                else run
            ),
        )
        for name, kept in (("a", 4), ("b", 3))
    )
    made = compared(a, b)
    text = shown(made)
    assert "10 runs of A and 20 runs of B were not measured, in 10 cells" in text
    assert text.count("not measured") == 1
    notes = comparison_document.document(made)["notes"]
    assert [one["note"] for one in notes[:2]] == [
        "1 of 5 runs of A were not measured", "2 of 5 runs of B were not measured",
    ]  # fmt: skip


def test_one_cell_after_the_other_in_one_experiment_decides_nothing() -> None:
    elapsed = {HERE: FAST, SSD: SLOW}
    for is_sequential, verdict in (
        (True, "not decided: measured one after the other"),
        (False, "slower"),
    ):
        storages = [invented.HERE, invented.SSD]
        planned = invented.plan(
            [invented.POSTGRESQL], storages, repetitions=5, is_sequential=is_sequential
        )
        made = within(invented.experiment(Path(f"{is_sequential}"), planned, elapsed), "storage")
        assert made.cells[0].primary.verdict.partition(",")[0] == verdict


@pytest.mark.slow
def test_one_of_many_cells_is_not_called_for_what_is_chance() -> None:
    """The same two sides alone differ by p = 0.01."""
    clients = tuple(range(1, 11))
    seconds = (1.00, 1.10, 1.00, 1.10, 1.05)
    other = tuple(one * 1.11 for one in seconds)
    alone = compared(measured("a", seconds), measured("b", other))
    assert alone.cells[0].primary.verdict == "slower"
    a, b, e = (
        measured(name, took, clients=clients)
        for name, took in (("c", seconds), ("d", seconds), ("e", other))
    )
    changed = tuple(
        one if one.clients != 8 else structs.replace(one, observation=of_other.observation)
        for one, of_other in zip(b.runs, e.runs, strict=True)
    )
    made = compared(a, structs.replace(b, runs=changed))
    verdicts = {cell.factors["clients"]: cell.primary.verdict for cell in made.cells}
    assert verdicts.pop(8) == "not decided: 5 repetitions are too few for 10 comparisons"
    assert {*verdicts.values()} == {"no difference seen"}
    assert {cell.primary.direction for cell in made.cells} == {Direction.NONE}
    text = in_words(made)
    assert "not decided [1]" in text
    assert "[1] 5 repetitions are too few for 10 comparisons" in text
    estimate = next(one.primary.estimate for one in made.cells if one.factors["clients"] == 8)
    assert estimate and f"{estimate.interval()[0]:.3f} to" in text  # type: ignore[index]


def test_a_run_is_not_compared_with_itself() -> None:
    """The hint names a factor that has two levels."""
    for name, clients, hint in (
        ("a", (8,), "name two experiments"),
        ("b", (8, 16), "--between clients"),
    ):
        found = measured(name, clients=clients)
        with pytest.raises(ArgumentError, match="found run 1 of A in both") as raised:
            compared(found, found)
        assert raised.value.hint and raised.value.hint.endswith(hint)


def test_the_document_is_of_its_schema_in_every_case() -> None:
    a, again = (measured(name, clients=(1, 8)) for name in "ad")
    other = measured("c", machine={"kernel": "6.5.0"}, dataset={"fingerprint": "e" * 64})
    for b in (again, measured("b", (1.0,)), other):
        made = compared(a, b)
        results = conditions.judge_conditions(made, [conditions.condition(SLOWER)])
        document = comparison_document.document(made, results)
        text = json.dumps(document, allow_nan=False)
        jsonschema_rs.validate(comparison_document.schema(), json.loads(text))
        # Equal sides: no difference is no equality. Other data, or one run: nothing may be said.
        assert len(document["may_say"]) == (2 if b is again else 0)
        assert len(document["may_not_say"]) == 1 + len(made.cells) + len(made.unequal)
        stream = io.StringIO()
        comparison_document.write_csv(made, stream)
        assert len(stream.getvalue().splitlines()) == 1 + len(document["ratios"])
        assert text_of(markdown, report.build(made)).startswith("# B compared with A")


def test_verdicts_of_many_cells_stand_first_in_the_order_of_the_report() -> None:
    clients = (16, 8, 2, 4)
    a = measured("a", clients=clients)
    runs = tuple(run for run in a.runs if run.clients != 2 or run.repetition == 1)
    made = compared(structs.replace(a, runs=runs), measured("b", SLOW, clients=clients))
    verdicts, *rest = report.build(made).sections[0].tables
    assert [(row.cells[0].shown, row.cells[3].shown) for row in verdicts.rows] == [
        ("postgresql, here, 16 clients", "slower"),
        ("postgresql, here, 8 clients", "slower"),
        ("postgresql, here, 2 clients", "one run of A: no interval"),
        ("postgresql, here, 4 clients", "slower"),
    ]
    assert verdicts.rows[0].cells[2].shown == "0.818 to 0.856"
    assert all(table.is_detail for table in rest)
    text = in_words(made)
    assert "3 cells not interleaved, so unreliable" in text
    assert "1 cell with one run on a side" in text


@pytest.mark.parametrize("width", [20, 80])
def test_an_interval_that_says_nothing_is_said_in_words(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    made = within(on_storages("a", (1.0, 3.0), (0.9, 0.4)), "storage")
    assert "unbounded [1]" in shown(made) and "0.000" not in shown(made)
    assert "[1] two repetitions are too few for an interval" in in_words(made)
    reason = judged(made, "throughput_per_s > 1.1x").reason
    assert "(interval unbounded); 2 repetitions do not decide it" in reason
    great = within(on_storages("b", (1.0, 1.2), (0.9, 0.95)), "storage")
    assert "factor " in shown(great) and "from 100 % on" in in_words(great)


def test_the_verdict_on_the_runs_stands_beside_the_result() -> None:
    short = measured("b", SLOW, verdict=("unreliable", "short measurement"))
    made = compared(measured("a"), short)
    assert "slower [1]" in shown(made) and "[1] unreliable: B: short" in shown(made)
    (row, *_) = comparison_document.rows(made)
    assert (row["verdict"], row["runs_verdict"]) == ("slower", "unreliable")
    stream = io.StringIO()
    comparison_document.write_csv(made, stream)
    assert "B: short measurement" in stream.getvalue().splitlines()[1]
    reasons = comparison_document.document(made)["ratios"][0]["runs_reasons"]
    assert reasons == ["B: short measurement"]


def test_durability_that_settings_lower_leaves_no_verdict() -> None:
    """Also where it was not measured. Queries need none, as in a report."""
    lowered = {"durability_lowered_by": ["fsync = off"]}
    a, b = measured("a"), measured("b", SLOW, deployment=lowered)
    for between in ("", "storage"):
        made = compared(a, b, between=between)
        assert made.cells[0].not_comparable == ("durability by settings: not lowered → fsync = off")
        assert answers(made, SLOWER) == [UNKNOWN]
    assert compared(a, b, despite=["durability"]).cells[0].primary.verdict == "slower"
    both = compared(b, measured("c", deployment=lowered))
    assert both.cells[0].not_comparable == ""
    made = compared(
        *(
            invented.each_run(one, lambda run: invented.changed(run, "observation", commits=0))
            for one in (a, b)
        )
    )
    assert made.cells[0].primary.verdict == "slower" and answers(made, SLOWER) == [MET]


def test_the_class_of_a_profile_is_the_same_in_every_system() -> None:
    """Where it cannot be measured; the settings that lower it are each system's own."""
    a, same, other = (
        measured(
            name, numbers, systems=[system],
            deployment={"durability_lowered_by": [setting], "durability_promised": promised},
        )
        for name, numbers, system, setting, promised in (
            ("a", FAST, invented.POSTGRESQL, "fsync = off", "D1"),
            ("b", SLOW, invented.SQLITE, "synchronous = off", "D1"),
            ("c", SLOW, invented.SQLITE, "synchronous = off", ""),
        )
    )  # fmt: skip
    (cell,) = compared(a, same, between="system").cells
    assert (cell.not_comparable, cell.primary.verdict) == ("", "slower")
    (cell,) = compared(a, other, between="system").cells
    assert cell.not_comparable == "durability by settings: D1 by its profile → synchronous = off"


def test_noise_and_few_repetitions_are_no_difference() -> None:
    for a, b, verdict in (
        (FAST, FAST[::-1], "no difference seen"),
        (FAST[:2], (1.3, 1.1), "not decided: 2 repetitions are too few"),
        ((1.0,), (2.0,), "one run each: no interval"),
    ):
        assert compared(measured("a", a), measured("b", b)).cells[0].primary.verdict == verdict


def test_what_makes_another_machine() -> None:
    unlimited = {"processors_limit": None, "memory_limit_bytes": None, "affinity": "0-7"}
    host: dict[str, Any] = {"host": "5f1c"}
    for of_a, of_b, differs, is_other in (
        (unlimited, {"processors_limit": 0.2}, ["processors_limit"], True),
        (unlimited, {"memory_limit_bytes": 1 << 28}, ["memory_limit_bytes"], True),
        (unlimited, {"affinity": "0"}, ["affinity"], True),
        # Each job of a build server has a host of its own.
        (host, {"host": "e08a"}, ["host"], False),
        (host, {"kernel": "6.9.0"}, ["kernel"], False),
        ({}, host, [], False),  # A is of an earlier Assay
    ):
        made = compared(measured("a", machine=of_a), measured("b", SLOW, machine=of_a | of_b))
        assert [one.name for one in made.machines] == differs
        assert made.is_other_machine is is_other
        assert answers(made, SLOWER) == [UNKNOWN if is_other else MET]


def test_machines_of_which_too_little_is_known_are_not_the_same() -> None:
    for lost in (("cpu_model",), ("memory_bytes",), ("cpu_model", "memory_bytes")):
        made = compared(measured("a"), measured("b", SLOW, machine=dict.fromkeys(lost)))
        text = shown(made)
        assert f"not known: the record lacks B's {lost[0]}" in text
        assert "slower [1]" in text and "[1] machines not known" in text
        assert answers(made, SLOWER) == [UNKNOWN]
        assert answers(made, SLOWER, despite=["machine"]) == [MET]
        assert comparison_document.rows(made)[0]["machines"] == "not known"


def test_a_cell_has_one_name_in_reports_and_comparisons() -> None:
    large = replace(invented.POSTGRESQL, machine=ServerMachine(memory_bytes=2**31))
    found = measured("a", (1.0,), clients=(8, 16))
    cold: dict[str, Any] = {"levels": {"cache": "cold"}}
    for changes, others, name in (
        (cold, cold, "postgresql, here, 8 clients, cache cold"),
        ({"levels": {"client_program": "native"}}, {},
         "postgresql, here, 8 clients, native clients"),
        ({"parameters": {"share": 800.0}}, {"parameters": {"share": 0.25}},
         "postgresql, here, 8 clients, share 800"),
        ({"group_clients": {"readers": 4}}, {}, "postgresql, here, 8 clients, readers 4"),
        ({"system": large}, {}, "postgresql, here, memory 2GB, 8 clients"),
    ):  # fmt: skip
        runs = []
        for run in found.runs:
            other: dict[str, Any] = changes if run.clients == 8 else others
            levels = {**run.levels, **other.get("levels", {})}
            runs.append(invented.of_cell(run, **{**other, "levels": levels}))
        named = factors.names(runs)
        assert named == [cell.name for cell in cell_runs.cells(found, runs)]
        assert named[0] == name


def test_the_error_names_the_command_that_sets_one_factor_aside() -> None:
    without_jit = SystemChoice("postgresql", settings={"jit": "off"})
    for of_a, of_b, words in (
        ({"clients": (8,)}, {"clients": (16,)}, "--between clients"),
        ({"clients": (2, 4)}, {"clients": (8, 16)}, "--between clients=2,8"),
        ({}, {"systems": [without_jit]}, "--between postgresql.jit"),
    ):
        made = compared(measured("a", **of_a), measured("b", **of_b))
        with pytest.raises(ArgumentError) as raised:
            _insist_on_cells(made, ("1", "3"), " --records r.sqlite")
        command = f"assay compare 1 3 {words} --records r.sqlite"
        assert raised.value.hint == f"{command} compares them"


def test_settings_are_compared_by_their_meaning() -> None:
    same = (
        ("128.0 MiB", "134217728B"), ("976.5 KiB", "1000000 bytes"), ("1.0 GiB", "1024.0 MiB"),
        ("on", "TRUE"), ("2", "2.0"),
    )  # fmt: skip
    others = (
        ("128.0 MiB", "128.1 MiB"), ("128 MiB", "134217729B"), ("on", "off"), ("2", "3"),
        ("1GB", "1.0 GiB"), ("1", "1B"), ("true", "preserve_case"),
    )  # fmt: skip
    for one, other in (*same, *others):
        is_so = (one, other) in same
        assert mean_the_same(one, other) is mean_the_same(other, one) is is_so
