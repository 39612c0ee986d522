"""Two invented sides: equal cells are compared, what differs is named, machines first.

Long because every verdict, and every reason for which there is none, has its pair of sides here.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec import structs

import assay
import invented_records as invented
import observations
from assay import comparison
from assay.cli.commands.compare import _insist_on_cells
from assay.cli.program import run_program
from assay.comparison import conditions, differences, factors
from assay.comparison.conditions import ConditionAnswer
from assay.comparison.differences import mean_the_same
from assay.comparison.sides import Comparison, Direction
from assay.contracts.experiment import OF_SCRIPTS
from assay.errors import ArgumentError
from assay.experiment import ScriptFile, ServerMachine, SystemChoice
from assay.experiment.from_command_line import Words, experiment
from assay.judge.run import ScriptRecord
from assay.judge.statistics.estimate import Design
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs, comparison_document
from assay.report import comparison_report as report
from assay.report.forms import markdown, table
from shown_report import text_of

FAST = (1.00, 1.02, 0.99, 1.01, 1.00)
SLOW = (1.21, 1.19, 1.20, 1.22, 1.18)
OTHER = {"cpu_model": "Invented 7000", "memory_bytes": 8 * 10**9, "kernel": "6.5.0"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


_KEPT: dict[tuple[str, tuple[float, ...]], ExperimentRecord] = {}


def measured(path: Path, seconds: tuple[float, ...] = FAST, **changes: Any) -> ExperimentRecord:
    """Runs of one cell, one after the other; the same ones as before where nothing is changed."""
    if changes:
        return _measured(path, seconds, **changes)
    side = (path.name, seconds)
    if side not in _KEPT:
        _KEPT[side] = _measured(path, seconds)
    return _KEPT[side]


def _measured(path: Path, seconds: tuple[float, ...], **changes: Any) -> ExperimentRecord:
    systems = changes.pop("systems", [invented.POSTGRESQL])
    clients = changes.pop("clients", (8,))
    planned = invented.plan(systems, clients=clients, repetitions=len(seconds))
    elapsed = {(one.name, "here", count): seconds for one in systems for count in clients}
    return invented.experiment(path, planned, elapsed, **changes)


def compared(a: ExperimentRecord, b: ExperimentRecord, **given: Any) -> Comparison:
    return comparison.compare(
        comparison.side("A", "the first", [a]), comparison.side("B", "the second", [b]), **given
    )


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """B is slower."""
    path = tmp_path_factory.mktemp("sides")
    return compared(measured(path / "a"), measured(path / "b", SLOW))


def on_storages(
    path: Path, here: tuple[float, ...], ssd: tuple[float, ...], others: float = 0.0
) -> Comparison:
    """Interleaved repetitions on two storages; ``others``: the share of the processors that other
    programs used."""
    storages = [invented.HERE, invented.SSD]
    planned = invented.plan([invented.POSTGRESQL], storages, repetitions=len(here))
    elapsed = {("postgresql", "here", 8): here, ("postgresql", "ssd", 8): ssd}
    found = invented.experiment(path, planned, elapsed)
    if others:
        found = structs.replace(
            found, runs=tuple(invented.disturbed(run, others) for run in found.runs)
        )
    return comparison.compare(comparison.side("A", "", [found]), None, between="storage")


def shown(made: Comparison, **given: Any) -> str:
    stream = io.StringIO()
    table.render(report.build(made), stream, **{"detail": False, **given})
    return stream.getvalue()


def _no_samples(run: Run) -> dict[str, Any]:
    assert run.driven is not None
    all_ok: dict[str, Any] = run.driven.document["all_ok"]
    return {**all_ok, "latency": {**all_ok["latency"], "count": 0}}


NOTHING: dict[str, Any] = {
    "observation": None,
    "deployment": None,
    "data": None,
}
"""Of a run that did not come so far."""


def answers(made: Comparison, *texts: str, **given: Any) -> list[ConditionAnswer]:
    asked = [conditions.condition(text) for text in texts]
    return [one.answer for one in conditions.judge_conditions(made, asked, **given)]


def test_a_slower_side_is_called_slower(slower: Comparison) -> None:
    (cell,) = slower.cells
    assert cell.primary.metric.name == "throughput_per_s"
    assert cell.primary.verdict == "slower" and cell.primary.direction is Direction.WORSE
    assert cell.primary.estimate and cell.primary.estimate.design is Design.INDEPENDENT
    assert cell.primary.estimate.ratio == pytest.approx(1 / 1.195, rel=0.01)
    assert "not interleaved, so unreliable" in shown(slower)


def test_two_repetitions_do_not_show_that_nothing_differs(folder: Path) -> None:
    made = compared(measured(folder / "a", FAST[:2]), measured(folder / "b", (1.3, 1.1)))
    assert made.cells[0].primary.verdict == "not decided: 2 repetitions are too few"


def test_noise_is_no_difference(folder: Path) -> None:
    made = compared(measured(folder / "a"), measured(folder / "b", FAST[::-1]))
    assert made.cells[0].primary.verdict == "no difference seen"
    assert made.cells[0].primary.direction is Direction.NONE


def test_medians_that_say_the_opposite_are_named(folder: Path) -> None:
    """A report shows medians."""
    a, b = measured(folder / "a", (1.0, 1.0, 2.0)), measured(folder / "b", (1.1, 1.1, 1.1))
    words = "by medians, as in assay report, the other side is ahead"
    assert words in " ".join(shown(compared(a, b)).split())
    assert words not in shown(compared(a, measured(folder / "c", (0.5, 0.5, 0.5))))


def test_interleaved_repetitions_are_pairs(folder: Path) -> None:
    """A machine that becomes slower with each repetition hides nothing."""
    drift = (1.0, 1.3, 1.6, 2.0, 2.5)
    made = on_storages(folder / "a", drift, tuple(one * 1.1 for one in drift))
    estimate = made.cells[0].primary.estimate
    assert estimate and estimate.design is Design.PAIRED
    assert estimate.ratio == pytest.approx(1 / 1.1)
    assert made.cells[0].primary.verdict == "slower"
    assert "interleaved" in shown(made)


def test_experiments_by_turns_are_pairs_and_one_after_the_other_are_not(folder: Path) -> None:
    every = [measured(folder / "a", (s,)) for s in (1.0, 1.5, 1.1, 1.6, 1.2, 1.7)]
    by_turns = comparison.compare(
        comparison.side("A", "", every[0::2]), comparison.side("B", "", every[1::2])
    )
    after = comparison.compare(
        comparison.side("A", "", every[:3]), comparison.side("B", "", every[3:])
    )
    designs = [made.cells[0].primary.estimate for made in (by_turns, after)]
    assert [one.design for one in designs if one] == [Design.PAIRED, Design.INDEPENDENT]


def test_one_run_each_has_no_interval_and_says_so(folder: Path) -> None:
    made = compared(measured(folder / "a", (1.0,)), measured(folder / "b", (2.0,)))
    assert made.cells[0].primary.verdict == "one run each: no interval"
    assert "no interval" in shown(made)


@pytest.mark.parametrize("text", ["throughput_per_s < 0.95x", "throughput_per_s < 0.1x"])
def test_a_ratio_of_single_runs_decides_nothing(folder: Path, text: str) -> None:
    """Fewer repetitions make no condition stricter, nor easier to pass. A value of B is judged."""
    made = compared(measured(folder / "a"), measured(folder / "b", (2.0,)))
    (judged,) = conditions.judge_conditions(made, [conditions.condition(text)])
    assert judged.answer is ConditionAnswer.UNKNOWN
    assert "one repetition says nothing about noise; run 5 repetitions" in judged.reason
    assert answers(made, "elapsed_ns > 1.9e9", "failed > 0") == [
        ConditionAnswer.MET,
        ConditionAnswer.NOT_MET,
    ]


def test_two_machines_compare_and_what_differs_between_them_comes_first(folder: Path) -> None:
    slow, quick = invented.probe("here", 100.0), invented.probe("here", 900.0)
    a = measured(folder / "a", probes={"here": slow})
    b = measured(folder / "b", SLOW, machine=OTHER, probes={"here": quick})
    made = compared(a, b)
    assert [one.name for one in made.machines] == [
        "cpu_model", "memory_bytes", "kernel", "here, flushes_per_s",
    ]  # fmt: skip
    lines = shown(made).splitlines()
    first = next(place for place, line in enumerate(lines) if "Invented 9000" in line)
    assert "not the same: cpu_model: Invented 9000 → Invented 7000" in lines[first]
    assert first < next(place for place, line in enumerate(lines) if line == "Ratios")
    assert made.cells[0].primary.verdict == "slower"
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]
    assert answers(made, "throughput_per_s < 0.95x", despite=["machine"]) == [ConditionAnswer.MET]


@pytest.mark.parametrize(
    "limit", [{"processors_limit": 0.2}, {"memory_limit_bytes": 1 << 28}, {"affinity": "0"}]
)
def test_other_limits_around_assay_are_another_machine(folder: Path, limit: dict[str, Any]) -> None:
    unlimited = {"processors_limit": None, "memory_limit_bytes": None, "affinity": "0-7"}
    a = measured(folder / "a", machine=unlimited)
    made = compared(a, measured(folder / "b", SLOW, machine={**unlimited, **limit}))
    assert made.is_other_machine
    assert [one.name for one in made.machines] == list(limit)
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]


def test_another_host_of_equal_hardware_or_kernel_is_said_and_no_other_machine(
    folder: Path,
) -> None:
    """Each job of a build server has a host of its own."""
    a = measured(folder / "a", machine={"host": "5f1c"})
    for machine, sentence in (
        ({"host": "e08a"}, "host: 5f1c → e08a"),
        ({"host": "5f1c", "kernel": "6.9.0"}, "kernel: 6.1.0 → 6.9.0"),
    ):
        made = compared(a, measured(folder / sentence[:4], machine=machine))
        assert [one.sentence for one in made.machines] == [sentence]
        assert not made.is_other_machine
    of_earlier_assay = measured(folder / "c")
    assert not compared(a, of_earlier_assay).machines


def test_unequal_cells_are_said_to_differ_in_what(folder: Path) -> None:
    a = measured(folder / "a", clients=(8,))
    b = measured(folder / "b", clients=(16,))
    made = compared(a, b)
    assert not made.cells
    assert [(one.side, one.nearest) for one in made.unequal] == [
        ("A", "postgresql, here, 16 clients"), ("B", "postgresql, here, 8 clients"),
    ]  # fmt: skip
    assert [one.sentence for one in made.unequal[0].differences] == ["clients: 8 → 16"]
    assert "clients: 8 → 16" in shown(made)
    (cell,) = compared(a, b, between="clients").cells
    assert cell.primary.estimate is not None


def test_what_servers_are_given_is_compared_by_the_names_and_levels_of_the_options(
    folder: Path,
) -> None:
    machines = (ServerMachine(), ServerMachine(memory_bytes=1 << 30))
    systems = [replace(invented.POSTGRESQL, machine=machine) for machine in machines]
    found = comparison.side("A", "", [measured(folder / "a", systems=systems)])
    (cell,) = comparison.compare(found, None, between="memory=none,1GB").cells
    assert cell.name == "postgresql, here, 8 clients"
    assert "memory_bytes" not in cell.factors


def test_profiles_are_compared_whatever_settings_they_have(folder: Path) -> None:
    (none, tuned) = experiment(
        Words("ssd.insert", on=("sqlite",), set=("sqlite.profile=none,tuned",))
    )[0].systems
    planned = invented.plan([none, tuned], repetitions=5)
    elapsed = {("sqlite", "here", 8): FAST}
    found = comparison.side("A", "", [invented.experiment(folder / "a", planned, elapsed)])
    (cell,) = comparison.compare(found, None, between="profile=none,tuned").cells
    assert cell.name == "sqlite, here, 8 clients"
    assert cell.factors["profile"] == "none"
    with pytest.raises(ArgumentError, match="no level 'paper' of profile"):
        comparison.compare(found, None, between="profile=none,paper")


@pytest.mark.parametrize(
    ("changes", "others", "name"),
    [
        ({"levels": {"cache": "cold"}}, {"levels": {"cache": "cold"}},
         "postgresql, here, 8 clients, cache cold"),
        ({"levels": {"client_program": "native"}}, {},
         "postgresql, here, 8 clients, native clients"),
        ({"parameters": {"share": 800.0}}, {"parameters": {"share": 0.25}},
         "postgresql, here, 8 clients, share 800"),
        ({"group_clients": {"readers": 4}}, {}, "postgresql, here, 8 clients, readers 4"),
        ({"system": replace(invented.POSTGRESQL, machine=ServerMachine(memory_bytes=2**31))}, {},
         "postgresql, here, memory 2GB, 8 clients"),
    ],
)  # fmt: skip
def test_a_cell_has_one_name_in_reports_and_comparisons(
    folder: Path, changes: dict[str, Any], others: dict[str, Any], name: str
) -> None:
    found = measured(folder / "a", (1.0,), clients=(8, 16))
    runs = []
    for run in found.runs:
        other = changes if run.clients == 8 else others
        levels = {**run.levels, **other.get("levels", {})}
        runs.append(invented.of_cell(run, **{**other, "levels": levels}))
    named = factors.names(runs)
    assert named == [cell.name for cell in cell_runs.cells(found, runs)]
    assert named[0] == name


def test_an_unpacked_script_is_known_by_its_content_and_differs_in_nothing(folder: Path) -> None:
    (run, *_) = measured(folder / "a").runs
    fields = []
    for path, content, weight in (
        ("q.sql", "d1", 1),
        ("/tmp/x/q.sql", "d1", 1),
        ("q.sql", "d2", 1),
    ):
        script = ScriptFile(path, weight, content)
        changed = invented.of_cell(
            structs.replace(run, is_ad_hoc=True), workload=path, workload_content="of its scripts",
            scripts=(script,),
        )  # fmt: skip
        fields.append(factors.identifying(changed))
    assert not factors.differing(fields[:2])
    assert factors.differing(fields[::2]) == ["scripts"]
    assert differences.of_unequal_cells(fields[0], fields[2])[0].sentence == (
        "scripts: q.sql (d1) → q.sql (d2)"
    )


def test_scripts_of_one_name_in_two_folders_differ_in_their_folders(folder: Path) -> None:
    sides = []
    for path in ("x.sql", "f/x.sql"):
        found = measured(folder / path.replace("/", "_"))
        runs = tuple(
            invented.of_cell(
                structs.replace(run, workload=path, is_ad_hoc=True, cell_fingerprint=path),
                workload=path,
                scripts=(ScriptFile(path),),
            )
            for run in found.runs
        )
        sides.append(structs.replace(found, runs=runs))
    made = compared(*sides)
    assert "scripts: x.sql → f/x.sql" in shown(made).replace("\n           ", " ")
    assert [one.name for one in made.unequal[0].differences] == ["scripts"]


def test_what_was_not_measured_has_no_data_that_differ(folder: Path) -> None:
    """The run that was begun is named, not one that was only planned."""
    b = measured(folder / "b")
    runs = [
        structs.replace(run, begun_unix_ns=None, state="planned", reason="", **NOTHING)
        for run in b.runs
    ]
    runs[1] = structs.replace(runs[1], begun_unix_ns=1, state="interrupted", reason="process ended")
    (cell,) = compared(measured(folder / "a"), structs.replace(b, runs=tuple(runs))).cells
    assert cell.primary.reason == "B was not measured: run 2 interrupted (process ended)"
    assert not cell.differences and not cell.blocked_by


def test_many_unequal_cells_are_counted_and_not_all_listed(folder: Path) -> None:
    a = measured(folder / "a", (1.0,), clients=tuple(range(1, 31)))
    made = compared(a, measured(folder / "b", (1.0,), clients=(40,)))
    assert "only in A  27 further cells: --detail" in shown(made)
    assert len(shown(made).splitlines()) < 20 < len(shown(made, detail=True).splitlines())


def test_other_data_are_not_compared_unless_it_is_asked(folder: Path) -> None:
    a = measured(folder / "a")
    b = measured(folder / "b", SLOW, dataset={"fingerprint": "e" * 64})
    made = compared(a, b)
    assert made.cells[0].primary.verdict.startswith("not comparable: input of the data")
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]
    assert compared(a, b, despite=["data"]).cells[0].primary.verdict == "slower"


def test_a_setting_that_one_side_recorded_is_at_its_default_on_the_other(folder: Path) -> None:
    """PostgreSQL records those that are not at their default. Values may be paths, but for those of
    the run's own directory."""
    own = "/var/tmp/assay-9f86d081884c/data"
    of_a = {"max_connections": "1000", "log_timezone": "Etc/UTC", "data": own}
    of_b = {**of_a, "log_statement": "all", "log_timezone": "Europe/Vienna", "track_io_timing": ""}
    changed = {**of_b, "data": own.replace("9f", "0a")}
    made = compared(
        measured(folder / "a", deployment={"settings": of_a}),
        measured(folder / "b", deployment={"settings": changed}),
    )
    assert [one.sentence for one in made.cells[0].differences] == [
        "log_timezone: Etc/UTC → Europe/Vienna",
        "log_statement: default → all",
        "track_io_timing: default → empty",
    ]


def test_changed_settings_stand_before_those_that_a_version_may_lack(folder: Path) -> None:
    of_a = {"a_gone": "1", "buffer": "128.0 MiB", "cut": "976.5 KiB", "list": '{\n  "x": 1\n}'}
    of_b = {"added": "1", "buffer": "134217728B", "cut": "10.0 MiB", "list": '{\n  "x": 2\n}'}
    made = compared(
        measured(folder / "a", deployment={"settings": of_a}),
        measured(folder / "b", deployment={"settings": of_b, "version": "postgresql 2.0"}),
    )
    found = [one.sentence for one in made.cells[0].differences if one.what == "setting"]
    assert found == [
        "cut: 976.5 KiB → 10.0 MiB",
        'list: { "x": 1 } → { "x": 2 }',
        "a_gone: 1 → default, or not in this version",
        "added: default, or not in this version → 1",
    ]


@pytest.mark.parametrize(
    ("one", "other", "is_so"),
    [
        ("128.0 MiB", "134217728B", True), ("976.5 KiB", "1000000 bytes", True),
        ("1.0 GiB", "1024.0 MiB", True), ("128.0 MiB", "128.1 MiB", False),
        ("128 MiB", "134217729B", False), ("on", "TRUE", True), ("on", "off", False),
        ("2", "2.0", True), ("2", "3", False), ("1GB", "1.0 GiB", False), ("1", "1B", False),
        ("true", "preserve_case", False),
    ],
)  # fmt: skip
def test_settings_are_compared_by_their_meaning(one: str, other: str, is_so: bool) -> None:
    assert mean_the_same(one, other) is is_so
    assert mean_the_same(other, one) is is_so


def test_settings_of_a_side_that_does_not_report_them_are_no_difference(folder: Path) -> None:
    unknown = {"settings": {}, "settings_unknown": "it does not answer"}
    made = compared(measured(folder / "a"), measured(folder / "b", deployment=unknown))
    assert not [one for one in made.cells[0].differences if one.what == "setting"]


def test_levels_of_a_setting_are_compared_by_its_name(folder: Path) -> None:
    """With or without its system; where it was not asked for, it is at its default."""
    systems = [
        SystemChoice("postgresql", settings={"jit": "on", "synchronous_commit": "off"}),
        SystemChoice("postgresql", settings={"jit": "on"}),
    ]
    planned = invented.plan(systems, repetitions=2)
    one = comparison.side("A", "", [invented.experiment(folder / "a", planned, 1.0)])
    for between in ("synchronous_commit", "postgresql.synchronous_commit"):
        made = comparison.compare(one, None, between=between)
        assert (made.a.title, made.b.title) == (
            "postgresql.synchronous_commit off, ",
            "postgresql.synchronous_commit default, ",
        )
        assert [cell.name for cell in made.cells] == ["postgresql jit=on, here, 8 clients"]
        assert not made.unequal


def test_a_setting_of_two_systems_is_named_with_its_system(folder: Path) -> None:
    systems = [SystemChoice(name, settings={"jit": "on"}) for name in ("postgresql", "mariadb")]
    found = invented.experiment(folder / "a", invented.plan(systems), 1.0)
    with pytest.raises(ArgumentError, match="several systems have a setting 'jit'") as raised:
        comparison.compare(comparison.side("A", "", [found]), None, between="jit")
    assert raised.value.hint == "name one: --between mariadb.jit or --between postgresql.jit"


def test_sides_of_the_same_set_of_works_are_not_the_same_run_by_run(folder: Path) -> None:
    """Each side did both works; a mean over them is of neither."""
    data = [{"dataset": {"fingerprint": one * 64}} for one in "de"]
    made = [measured(folder / str(place), **changes) for place, changes in enumerate(data)]
    again = [
        measured(folder / f"again{place}", SLOW, **changes) for place, changes in enumerate(data)
    ]
    found = comparison.compare(
        comparison.side("A", "", made), comparison.side("B", "", again[::-1])
    )
    assert not found.machines and not found.is_other_machine
    (cell,) = found.cells
    assert [one.what for one in cell.differences] == ["data"]
    assert "on each side, not run by run the same" in cell.not_comparable
    passed = comparison.compare(found.a, found.b, despite=["data"])
    assert passed.cells[0].primary.verdict == "slower"


def test_an_edited_feed_leaves_no_verdict(folder: Path) -> None:
    """Its text is no part of the workload's; other systems are fed the same file."""
    sides = [
        comparison.side(
            name,
            name,
            [with_scripts(measured(folder / name, seconds, systems=[system]), f"select {number};")],
        )
        for name, seconds, system, number in (
            ("A", FAST, invented.POSTGRESQL, 1),
            ("B", SLOW, invented.POSTGRESQL, 2),
            ("C", SLOW, invented.SQLITE, 2),
            ("D", SLOW, invented.POSTGRESQL, 1),
        )
    ]
    for other, between in ((sides[1], ""), (sides[2], "system")):
        (cell,) = comparison.compare(sides[0], other, between=between).cells
        assert "text of the scripts" in cell.not_comparable
        made = comparison.compare(sides[0], other, between=between)
        assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]
    assert comparison.compare(sides[0], sides[3]).cells[0].primary.verdict == "slower"


def test_a_side_that_never_did_a_type_of_transaction_has_done_other_work(folder: Path) -> None:
    """As where a query was cancelled each time at the limit of a statement. One that was not tried
    on a side, as a rare one of a mix may not be, is no other work."""
    all_done = (("quick", {"ok": 5}), ("long", {"ok": 1}))
    cancelled = (("quick", {"ok": 50}), ("long", {"failed": 1}))
    not_tried = (("quick", {"ok": 50}),)
    of_sides = [
        measured(
            folder / str(number),
            seconds,
            observation={
                "outcomes_by_transaction": [
                    {"name": name, **observations.outcomes(**counts)} for name, counts in types
                ]
            },
        )
        for number, (seconds, types) in enumerate(
            ((SLOW, all_done), (FAST, cancelled), (FAST, not_tried))
        )
    ]
    (cell,) = compared(of_sides[0], of_sides[1]).cells
    assert cell.not_comparable == "transactions that never ended ok: none → long"
    assert compared(of_sides[0], of_sides[2]).cells[0].primary.verdict == "faster"


def with_scripts(experiment: ExperimentRecord, text: str) -> ExperimentRecord:
    """Its clients were fed this text."""
    runs = tuple(
        structs.replace(
            invented.of_cell(run, feed="feed.sql"),
            scripts=(ScriptRecord("feed", "feed.sql", text, 1),),
        )
        for run in experiment.runs
    )
    return structs.replace(experiment, runs=runs)


def test_a_run_that_was_interrupted_before_its_clients_began_is_no_other_work(folder: Path) -> None:
    sides = []
    for name, seconds in (("A", FAST), ("B", SLOW)):
        found = with_scripts(measured(folder / name, seconds), "select 1;")
        *ended, last = (invented.of_cell(run, workload_content=OF_SCRIPTS) for run in found.runs)
        if name == "B":
            last = structs.replace(last, state="interrupted", observation=None, scripts=())
        sides.append(structs.replace(found, runs=(*ended, last)))
    (cell,) = compared(*sides).cells
    assert (cell.not_comparable, cell.differences) == ("", ())


def test_two_systems_are_compared_with_all_settings_that_are_not_their_default(
    folder: Path,
) -> None:
    systems = [invented.POSTGRESQL, invented.MARIADB]
    found = invented.experiment(folder / "a", invented.plan(systems, repetitions=2), 1.0)
    runs = tuple(
        invented.changed(run, "deployment", settings={"checksums": "on", "fsync": "on"})
        if run.system == "postgresql"
        else invented.changed(run, "deployment", settings={"log_bin": "on", "fsync": "off"})
        for run in found.runs
    )
    side = comparison.side("A", "", [structs.replace(found, runs=runs)])
    shown = [
        one.sentence
        for one in comparison.compare(side, None, between="system").cells[0].differences
    ]
    assert "version of the system: postgresql 1.2.3 → mariadb 1.2.3" in shown
    assert "checksums: on → default, or not in this system" in shown
    assert "log_bin: default, or not in this system → on" in shown
    assert "fsync: on → off" in shown


def test_a_setting_is_that_of_all_runs_of_a_side(folder: Path) -> None:
    def of(name: str, *sizes: str) -> comparison.Side:
        made = [
            measured(folder / f"{name}{place}", deployment={"settings": {"buffer": size}})
            for place, size in enumerate(sizes)
        ]
        return comparison.side(name, "", made)

    found = comparison.compare(of("A", "4MB", "64MB"), of("B", "4MB", "4MB"))
    assert [one.sentence for one in found.cells[0].differences] == ["buffer: 4MB and 64MB → 4MB"]


def test_an_invalid_side_is_not_compared_and_fails_no_condition_silently(folder: Path) -> None:
    """A limit that B's wrong run keeps is not known to be kept."""
    wrong = measured(folder / "b", verdict=("invalid", "wrong answers: S01"))
    made = compared(measured(folder / "a"), wrong)
    assert "is invalid: wrong answers: S01" in made.cells[0].primary.verdict
    assert answers(made, "elapsed_ns > 2e9", "elapsed_ns > 1000") == [
        ConditionAnswer.UNKNOWN,
        ConditionAnswer.MET,
    ]
    made = compared(wrong, measured(folder / "c"))
    assert answers(made, "elapsed_ns > 2e9", "elapsed_ns > 1x") == [
        ConditionAnswer.NOT_MET,
        ConditionAnswer.UNKNOWN,
    ]


def test_a_limit_of_b_is_judged_where_a_has_no_such_number(folder: Path) -> None:
    a = measured(folder / "a")
    without = tuple(invented.changed(run, "observation", all_ok=_no_samples(run)) for run in a.runs)
    made = compared(structs.replace(a, runs=without), measured(folder / "b"))
    assert answers(made, "latency_p50_ns > 1", "latency_p50_ns > 1x") == [
        ConditionAnswer.MET, ConditionAnswer.UNKNOWN,
    ]  # fmt: skip


def test_what_b_never_counted_is_judged_where_a_was_not_measured(folder: Path) -> None:
    a, b = measured(folder / "a", clients=(8, 16)), measured(folder / "b", clients=(8, 16))
    runs = [
        structs.replace(one, state="failed", **NOTHING) if one.clients == 8 else one
        for one in a.runs
    ]
    made = compared(structs.replace(a, runs=tuple(runs)), b)
    assert answers(made, "failed > 0") == [ConditionAnswer.NOT_MET] * 2
    assert "  failed  " not in shown(made, detail=True), "what never happened fills no rows"


def test_runs_of_many_cells_that_were_not_measured_have_one_line(folder: Path) -> None:
    clients = tuple(range(1, 13))
    sides = []
    for name in "ab":
        found = measured(folder / name, clients=clients)
        runs = [
            structs.replace(one, state="planned", **NOTHING)
            if one.clients > 2 and one.repetition > 3 + (name == "a") else one
            for one in found.runs
        ]  # fmt: skip
        sides.append(structs.replace(found, runs=tuple(runs)))
    made = compared(*sides)
    text = shown(made)
    assert "10 runs of A and 20 runs of B were not measured, in 10 cells" in text
    assert text.count("not measured") == 1
    notes = comparison_document.document(made)["notes"]
    assert [one["note"] for one in notes[:2]] == [
        "1 of 5 runs of A were not measured", "2 of 5 runs of B were not measured",
    ]  # fmt: skip


def test_nothing_is_decided_while_other_programs_use_the_machine(folder: Path) -> None:
    fast, slow = measured(folder / "a"), measured(folder / "b", SLOW)
    runs = tuple(invented.disturbed(run, 0.23) for run in slow.runs)
    made = compared(fast, structs.replace(slow, runs=runs))
    found = {one.metric.name: one.verdict for one in made.cells[0].metrics}
    why = "not decided: other programs used 23 % of the processors in the worst of 5 such runs"
    assert found["throughput_per_s"] == found["latency_p50_ns"] == why
    assert "not decided" not in found["size_on_disk_bytes"], "it has nothing to do with them"
    assert answers(made, "throughput_per_s < 0.95x", "throughput_per_s < 0.5x") == (
        [ConditionAnswer.UNKNOWN] * 2
    )


def test_a_difference_beyond_what_other_programs_can_make_is_decided(folder: Path) -> None:
    """With 50 % of the processors a factor of 4."""

    here = (1.0, 1.02, 0.98)
    little, great = (
        on_storages(folder / str(factor), here, tuple(one / factor for one in here), others=0.5)
        for factor in (3.5, 6.0)
    )
    why = "not decided: other programs used 50 % of the processors in the worst of 6 such runs"
    assert little.cells[0].primary.verdict == why
    assert great.cells[0].primary.verdict == "faster"
    found = {one.metric.name: one.verdict for one in great.cells[0].metrics}
    assert found["latency_p50_ns"] == why, "how long a wait behind them takes has no bound"
    assert "which explains a factor of 4:" in " ".join(shown(great).split())
    for limit, answer in (("1.2x", "MET"), ("5x", "UNKNOWN"), ("30x", "NOT_MET")):
        condition = f"throughput_per_s > {limit}"
        assert answers(great, condition) == [ConditionAnswer[answer]], limit


def test_one_cell_after_the_other_in_one_experiment_decides_nothing(folder: Path) -> None:
    storages = [invented.HERE, invented.SSD]
    elapsed = {("postgresql", "here", 8): FAST, ("postgresql", "ssd", 8): SLOW}
    verdicts = []
    for is_sequential in (True, False):
        planned = invented.plan(
            [invented.POSTGRESQL], storages, repetitions=5, is_sequential=is_sequential
        )
        record = invented.experiment(folder / str(is_sequential), planned, elapsed)
        side = comparison.side("A", "", [record])
        made = comparison.compare(side, None, between="storage")
        verdicts.append(made.cells[0].primary.verdict.partition(",")[0])
    assert verdicts == ["not decided: measured one after the other", "slower"]


@pytest.mark.slow
def test_one_of_many_cells_is_not_called_for_what_is_chance(folder: Path) -> None:
    """The same two sides alone differ by p = 0.01."""
    clients = tuple(range(1, 11))
    seconds = (1.00, 1.10, 1.00, 1.10, 1.05)
    other = tuple(one * 1.11 for one in seconds)
    alone = compared(measured(folder / "a", seconds), measured(folder / "b", other))
    assert alone.cells[0].primary.verdict == "slower"
    a = measured(folder / "c", seconds, clients=clients)
    b = measured(folder / "d", seconds[:5], clients=clients)
    changed = tuple(
        run if run.clients != 8 else structs.replace(run, observation=other_run.observation)
        for run, other_run in zip(
            b.runs, measured(folder / "e", other, clients=clients).runs, strict=True
        )
    )
    made = compared(a, structs.replace(b, runs=changed))
    not_decided = "not decided: 5 repetitions are too few for 10 comparisons"
    assert [cell.primary.verdict for cell in made.cells if cell.factors["clients"] == 8] == [
        not_decided
    ]
    others = [cell.primary.verdict for cell in made.cells if cell.factors["clients"] != 8]
    assert set(others) == {"no difference seen"}
    assert {cell.primary.direction for cell in made.cells} == {Direction.NONE}
    text = " ".join(shown(made).split())
    assert "not decided [1]" in text
    assert "[1] 5 repetitions are too few for 10 comparisons" in text
    estimate = next(one.primary.estimate for one in made.cells if one.factors["clients"] == 8)
    assert estimate and f"{estimate.interval()[0]:.3f} to" in text  # type: ignore[index]


def test_a_condition_is_judged_by_the_interval_of_the_cell_alone(folder: Path) -> None:
    """A fivefold loss in three repetitions is found among as many cells as there are."""
    clients = tuple(range(1, 15))
    planned = invented.plan([invented.POSTGRESQL], clients=clients, repetitions=3)
    times = {("postgresql", "here", one): (1.0, 1.4, 0.75) for one in clients}
    a = invented.experiment(folder / "a", planned, times)
    lost = {**times, ("postgresql", "here", 8): (5.0, 7.0, 3.75)}
    made = compared(a, invented.experiment(folder / "b", planned, lost))
    found = conditions.judge_conditions(made, [conditions.condition("throughput_per_s < 0.95x")])
    assert [one.cell for one in found if one.answer is ConditionAnswer.MET] == [
        "postgresql, here, 8 clients"
    ]
    assert {one.answer for one in found} == {ConditionAnswer.MET, ConditionAnswer.NOT_DECIDED}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("throughput_per_s < 0.95x", ConditionAnswer.MET),
        ("throughput_per_s < 0.8x", ConditionAnswer.NOT_MET),
        ("throughput_per_s<1.05x", ConditionAnswer.MET),
        ("throughput_per_s > 1x", ConditionAnswer.NOT_MET),
        ("elapsed_ns >= 1.1x", ConditionAnswer.MET),
        ("elapsed_ns > 1100000000", ConditionAnswer.MET),
        ("elapsed_ns > 1.3e9", ConditionAnswer.NOT_MET),
        ("failed > 0", ConditionAnswer.NOT_MET),
        ("failed <= 0", ConditionAnswer.MET),
    ],
)
def test_conditions_are_judged(slower: Comparison, text: str, answer: ConditionAnswer) -> None:
    assert answers(slower, text) == [answer]


def test_a_ratio_beyond_the_limit_that_may_be_noise_is_not_decided(folder: Path) -> None:
    noisy = (1.0, 1.6, 0.8, 1.9, 1.2)
    made = compared(measured(folder / "a"), measured(folder / "b", noisy))
    estimate = made.cells[0].primary.estimate
    assert estimate and estimate.ratio < 0.95
    asked = conditions.condition("throughput_per_s < 0.95x")
    (judged,) = conditions.judge_conditions(made, [asked])
    assert judged.answer is ConditionAnswer.NOT_DECIDED
    assert "5 repetitions do not decide it: the interval reaches over the limit" in judged.reason


def test_a_gate_that_cannot_see_what_it_is_asked_has_a_status_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal sides, of which the repetitions show no difference of 10 %."""
    records = [folder / name for name in ("a", "b")]
    for path, noise in zip(records, ((1.0, 1.3, 0.8), (1.25, 0.82, 1.01)), strict=True):
        made = measured(path, noise)
        assert made.path == path
    words = ["compare", *map(str, records), "--fail-if"]
    assert run_program([*words, "throughput_per_s < 0.9x"]) == 5
    said = capsys.readouterr().err
    assert "condition not decided" in said and "they show differences from" in said
    assert "repeat both to a precision of 5 %" in said
    assert run_program([*words, "throughput_per_s < 0.01x"]) == 0
    comparison = assay.compare(*(assay.open(path).latest for path in records))
    with pytest.raises(ArgumentError, match="not decided"):
        comparison.meets("throughput_per_s < 0.9x")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("speed < 0.95x", "throughput_per_s"),
        ("throughput_per_s 0.95x", "a ratio to A"),
        ("throughput_per_s < 0x", "a ratio to A"),
        ("", "a ratio to A"),
    ],
)
def test_a_condition_that_is_none_is_refused(text: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        conditions.condition(text)
    assert raised.value.hint and hint in raised.value.hint


def test_a_run_is_not_compared_with_itself(folder: Path) -> None:
    """The hint names a factor that has two levels."""
    a = measured(folder / "a")
    with pytest.raises(ArgumentError, match="found run 1 of A in both") as raised:
        compared(a, a)
    assert raised.value.hint == "name two experiments"
    several = measured(folder / "b", clients=(8, 16))
    with pytest.raises(ArgumentError, match="of A in both") as raised:
        compared(several, several)
    assert raised.value.hint and raised.value.hint.endswith("--between clients")


@pytest.mark.parametrize(
    ("of_a", "of_b", "words"),
    [
        ({"clients": (8,)}, {"clients": (16,)}, "--between clients"),
        ({"clients": (2, 4)}, {"clients": (8, 16)}, "--between clients=2,8"),
        (
            {"systems": [invented.POSTGRESQL]},
            {"systems": [replace(invented.POSTGRESQL, settings={"jit": "off"})]},
            "--between postgresql.jit",
        ),
    ],
)
def test_the_error_names_the_command_that_sets_one_factor_aside(
    folder: Path, of_a: dict[str, Any], of_b: dict[str, Any], words: str
) -> None:
    made = compared(measured(folder / "a", **of_a), measured(folder / "b", **of_b))
    with pytest.raises(ArgumentError) as raised:
        _insist_on_cells(made, ("1", "old.sqlite"))
    assert raised.value.hint == f"assay compare 1 old.sqlite {words} compares them"


def test_a_level_that_is_not_there_is_refused(folder: Path) -> None:
    one = comparison.side("A", "", [measured(folder / "a", clients=(1, 2, 4))])
    for between, found in (
        ("clients", "found 3: 1, 2, 4"),
        ("storage", "expected two levels of storage, found 1"),
        ("clients=1,9", "no level '9'"),
        ("clients=1", "expected two levels"),
        ("clents", "no factor 'clents'"),
    ):
        with pytest.raises(ArgumentError, match=found):
            comparison.compare(one, None, between=between)
    made = comparison.compare(one, None, between="clients=1,4")
    assert [cell.name for cell in made.cells] == ["postgresql, here"]


def test_levels_are_found_and_shown_as_people_write_them(folder: Path) -> None:
    found = measured(folder / "a", clients=(1, 2, 4))
    rates: dict[int, float | bool] = {1: 800.0, 2: 0.25, 4: True}
    runs = (
        invented.of_cell(run, parameters={"rate": rates[run.clients]}, clients=8)
        for run in found.runs
    )
    one = comparison.side("A", "", [structs.replace(found, runs=tuple(runs))])
    for words in ("800,0.25", "800.0,.250", "800,true"):
        made = comparison.compare(one, None, between=f"rate={words}")
        assert made.a.title.startswith("rate 800,")
        assert made.b.title.startswith(("rate 0.25,", "rate yes,"))
    with pytest.raises(ArgumentError) as raised:
        comparison.compare(one, None, between="rate=nan,800")
    assert raised.value.hint == "known: 800, 0.25, yes"


def test_levels_with_commas_are_named_whole(folder: Path) -> None:
    found = measured(folder / "a", clients=(1, 2, 4, 8))
    levels = {1: "0s:200,60s:800", 2: "0s:100..900,5s:900,9s:0", 4: "700", 8: "0s:200"}
    runs = (
        invented.of_cell(run, parameters={"rate": levels[run.clients]}, clients=8)
        for run in found.runs
    )
    one = comparison.side("A", "", [structs.replace(found, runs=tuple(runs))])
    for first, second in ((1, 2), (2, 1), (2, 4), (4, 1)):
        made = comparison.compare(one, None, between=f"rate={levels[first]},{levels[second]}")
        assert made.a.title.startswith(f"rate {levels[first]},")
        assert made.b.title.startswith(f"rate {levels[second]},")
    made = comparison.compare(one, None, between="rate=0s:200,1min:800,700")
    assert made.a.title.startswith("rate 0s:200,60s:800,")
    for words in ("0s:200,60s:800", "0s:200,60s:800,0s:200,60s:800", "0s:200,7s:800,700", ",,700"):
        with pytest.raises(ArgumentError, match=r"expected two levels|no level") as raised:
            comparison.compare(one, None, between=f"rate={words}")
        assert "known: 0s:200,60s:800, 0s:100..900,5s:900,9s:0, 700" in str(raised.value.hint)


def test_the_document_is_of_its_schema_in_every_case(folder: Path) -> None:
    schema = comparison_document.schema()
    a = measured(folder / "a", clients=(1, 8))
    single = measured(folder / "b", (1.0,))
    other = measured(folder / "c", machine=OTHER, dataset={"fingerprint": "e" * 64})
    asked = [conditions.condition("throughput_per_s < 0.95x")]
    again = measured(folder / "d", clients=(1, 8))
    for b in (again, single, other):
        made = compared(a, b)
        document = comparison_document.document(made, conditions.judge_conditions(made, asked))
        jsonschema_rs.validate(schema, json.loads(json.dumps(document, allow_nan=False)))
        claims = [one["claim"] for one in document["may_not_say"]]
        # Equal sides: no difference is no equality. Other data, or one run: nothing may be said.
        assert len(document["may_say"]) == (2 if b is again else 0)
        assert len(claims) == 1 + len(made.cells) + len(made.unequal), claims
        stream = io.StringIO()
        comparison_document.write_csv(made, stream)
        assert len(stream.getvalue().splitlines()) == 1 + len(document["ratios"])
        assert text_of(markdown, report.build(made)).startswith("# B compared with A")


def test_verdicts_of_many_cells_stand_first_in_the_order_of_the_report(folder: Path) -> None:
    clients = (16, 8, 2, 4)
    a = measured(folder / "a", clients=clients)
    few = structs.replace(
        a, runs=tuple(run for run in a.runs if run.clients != 2 or run.repetition == 1)
    )
    made = compared(few, measured(folder / "b", SLOW, clients=clients))
    (ratios, *_) = report.build(made).sections
    verdicts, *rest = ratios.tables
    assert [(row.cells[0].shown, row.cells[3].shown) for row in verdicts.rows] == [
        ("postgresql, here, 16 clients", "slower"),
        ("postgresql, here, 8 clients", "slower"),
        ("postgresql, here, 2 clients", "one run of A: no interval"),
        ("postgresql, here, 4 clients", "slower"),
    ]
    assert verdicts.rows[0].cells[2].shown == "0.818 to 0.856"
    assert all(table.is_detail for table in rest)
    text = " ".join(shown(made).split())
    assert (
        "3 cells not interleaved, so unreliable" in text and "1 cell with one run on a side" in text
    )


@pytest.mark.parametrize("width", [20, 80])
def test_an_interval_that_says_nothing_is_said_in_words(
    folder: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    made = on_storages(folder / "a", (1.0, 3.0), (0.9, 0.4))
    text = shown(made)
    assert "unbounded [1]" in text and "0.000" not in text
    assert "[1] two repetitions are too few for an interval" in " ".join(text.split())
    (judged,) = conditions.judge_conditions(made, [conditions.condition("throughput_per_s > 1.1x")])
    assert "(interval unbounded); 2 repetitions do not decide it" in judged.reason


def test_a_detectable_difference_beyond_100_percent_is_a_factor(folder: Path) -> None:
    text = shown(on_storages(folder / "a", (1.0, 1.2), (0.9, 0.95)))
    assert "factor " in text and "from 100 % on" in " ".join(text.split())


def test_outcomes_and_answers_that_are_not_right_are_conditions(folder: Path) -> None:
    a = measured(folder / "a")
    assert answers(compared(a, measured(folder / "b")), "checks_wrong > 0", "unknown > 0") == [
        ConditionAnswer.NOT_MET, ConditionAnswer.NOT_MET,
    ]  # fmt: skip
    found = invented.checks()
    wrong = measured(
        folder / "c", checks=[{**found[0], "ok": False}, *found[1:]], verdict=("invalid", "wrong")
    )
    assert answers(compared(a, wrong), "checks_wrong > 0") == [ConditionAnswer.MET]
    b = measured(folder / "d")
    assert b.runs[0].driven
    outcomes = {**b.runs[0].driven.document["outcomes"], "unknown": 2}
    runs = (invented.changed(run, "observation", outcomes=outcomes) for run in b.runs)
    lost = structs.replace(b, runs=tuple(runs))
    assert answers(compared(a, lost), "unknown > 0") == [ConditionAnswer.MET]
    unchecked = structs.replace(b, runs=tuple(structs.replace(run, checks=()) for run in b.runs))
    (judged,) = conditions.judge_conditions(
        compared(a, unchecked), [conditions.condition("checks_wrong > 0")]
    )
    assert judged.answer is ConditionAnswer.UNKNOWN
    assert judged.reason == "checks_wrong of B was not counted", "not that there is none"


def test_means_have_no_rests_of_rounding(slower: Comparison) -> None:
    for row in comparison_document.rows(slower):
        for value in (row["a"], row["b"]):
            assert value is None or len(repr(value)) <= 15, row
            assert row["unit"] != "count" or value is None or value == int(value)


def test_a_condition_is_not_known_of_a_cell_that_b_has_lost(folder: Path) -> None:
    made = compared(measured(folder / "a", clients=(8, 16)), measured(folder / "b", clients=(8,)))
    for text in ("throughput_per_s < 0.5x", "elapsed_ns > 1e15"):
        kept, lost = conditions.judge_conditions(made, [conditions.condition(text)])
        assert kept.answer is ConditionAnswer.NOT_MET
        assert (lost.answer, lost.reason) == (ConditionAnswer.UNKNOWN, "B has no such cell")
        assert "16 clients" in lost.cell
    made = compared(measured(folder / "c", clients=(8,)), measured(folder / "d", clients=(8, 16)))
    assert answers(made, "throughput_per_s < 0.5x") == [ConditionAnswer.NOT_MET]


def test_the_verdict_on_the_runs_stands_beside_the_result(folder: Path) -> None:
    short = measured(folder / "b", SLOW, verdict=("unreliable", "short measurement"))
    made = compared(measured(folder / "a"), short)
    assert "slower [1]" in shown(made) and "[1] unreliable: B: short" in shown(made)
    (row, *_) = comparison_document.rows(made)
    assert (row["verdict"], row["runs_verdict"]) == ("slower", "unreliable")
    stream = io.StringIO()
    comparison_document.write_csv(made, stream)
    assert "B: short measurement" in stream.getvalue().splitlines()[1]
    assert comparison_document.document(made)["ratios"][0]["runs_reasons"] == [
        "B: short measurement"
    ]


@pytest.mark.parametrize("between", ["", "storage"])
def test_durability_that_settings_lower_leaves_no_verdict(folder: Path, between: str) -> None:
    """Also where it was not measured."""
    lowered = {"durability_lowered_by": ["fsync = off"]}
    a, b = measured(folder / "a"), measured(folder / "b", SLOW, deployment=lowered)
    made = compared(a, b, between=between)
    assert made.cells[0].not_comparable == ("durability by settings: not lowered → fsync = off")
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]
    assert compared(a, b, despite=["durability"]).cells[0].primary.verdict == "slower"
    both = compared(b, measured(folder / "c", deployment=lowered))
    assert both.cells[0].not_comparable == ""


def test_the_class_of_a_profile_is_the_same_in_every_system(folder: Path) -> None:
    """Where it cannot be measured; the settings that lower it are each system's own."""
    sides = [
        measured(
            folder / name, numbers, systems=[system],
            deployment={"durability_lowered_by": [setting], "durability_promised": promised},
        )
        for name, numbers, system, setting, promised in (
            ("a", FAST, invented.POSTGRESQL, "fsync = off", "D1"),
            ("b", SLOW, invented.SQLITE, "synchronous = off", "D1"),
            ("c", SLOW, invented.SQLITE, "synchronous = off", ""),
        )
    ]  # fmt: skip
    same = compared(*sides[:2], between="system").cells[0]
    assert not same.not_comparable and same.primary.verdict == "slower"
    other = compared(sides[0], sides[2], between="system").cells[0]
    assert other.not_comparable == "durability by settings: D1 by its profile → synchronous = off"


def test_queries_need_no_durability(folder: Path) -> None:
    """As in a report."""
    lowered = {"durability_lowered_by": ["fsync = off"]}
    sides = [
        structs.replace(
            one, runs=tuple(invented.changed(run, "observation", commits=0) for run in one.runs)
        )
        for one in (measured(folder / "a"), measured(folder / "b", SLOW, deployment=lowered))
    ]
    made = compared(*sides)
    assert made.cells[0].primary.verdict == "slower"
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.MET]


@pytest.mark.parametrize("lost", [("cpu_model",), ("memory_bytes",), ("cpu_model", "memory_bytes")])
def test_machines_of_which_too_little_is_known_are_not_the_same(
    folder: Path, lost: tuple[str, ...]
) -> None:
    a = measured(folder / "a")
    b = measured(folder / "b", SLOW, machine=dict.fromkeys(lost))
    made = compared(a, b)
    assert f"not known: the record lacks B's {lost[0]}" in shown(made)
    assert "slower [1]" in shown(made) and "[1] machines not known" in shown(made)
    assert answers(made, "throughput_per_s < 0.95x") == [ConditionAnswer.UNKNOWN]
    assert answers(made, "throughput_per_s < 0.95x", despite=["machine"]) == [ConditionAnswer.MET]
    assert comparison_document.rows(made)[0]["machines"] == "not known"
