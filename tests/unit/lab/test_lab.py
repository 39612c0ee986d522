"""Runs of invented tests: names that are declared, tables of their own, deferred work, clients
beside a backup; runs that are repeated or end early."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import invented_records as invented
from assay import registry
from assay.cli.output.progress import Live
from assay.comparison import goals
from assay.contracts.deployment import Address
from assay.contracts.dialects import SingleRows
from assay.contracts.engine import DriveDocument, DriveProgress
from assay.contracts.events import ClientsAtWork
from assay.contracts.experiment import SystemChoice
from assay.contracts.stop import Stop
from assay.errors import ExperimentError
from assay.experiment.choices import checked_choices, storage_words
from assay.experiment.from_command_line import Words, experiment
from assay.judge import seconds
from assay.lab import authoring, backup, lab, measurement, pool
from assay.lab.authoring import examined_script, refused_statements
from assay.lab.measurement import EarlyEnd
from assay.lab.repetitions import Repeating, Repetition
from assay.lab.run_context.context import RunState
from assay.lab.steps.dump import Dump
from assay.plan import Plan, PlannedRun
from assay.provision.running_system import running_system
from assay.provision.undo.ledger import state_directory
from assay.record import Store
from assay.record.metrics.catalogue import METRICS
from assay.report import check_declarations
from assay.report.summaries import cell_summary
from assay.workload import reader
from assay.workload.steps import Drive, Step
from step_workloads import folder_of


class Answering:
    """Sessions that answer every statement."""

    def __init__(self) -> None:
        self.answers = {"UPDATE": 0, "SELECT": 0}
        self._lock = threading.Lock()

    def execute(self, statement: str) -> None:
        with self._lock:
            self.answers[statement.split()[0].upper()] += 1


def test_it_counts_only_once_each_client_has_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then one may still connect, which is no part of the time of a transaction."""
    sessions = Answering()
    monkeypatch.setattr(backup, "session", lambda _: contextlib.nullcontext(sessions))
    dialect = registry.system("sqlite").dialect
    assert isinstance(dialect, SingleRows)
    with backup.Meanwhile(lambda: Address("null"), dialect, dialect) as clients:
        before = dict(sessions.answers)
        clients.forget()
        assert all(sessions.answers[kind] >= before[kind] + 2 for kind in before)


TEST = """\
scripts = ["ask.sql"]
order = "mix"
clients = [3]
transactions = 20
deferred = { scripts = ["write.sql"], clients = 2 }
"""
ASK = "\\defer write\n\\think 100ms\n"


def test_totals_are_those_of_the_clients(tmp_path: Path) -> None:
    said: list[str] = []

    def sink(event: Any) -> None:
        if isinstance(event, ClientsAtWork):
            said.append(Live().numbers(event.report))

    folder = folder_of(tmp_path, TEST, ask=ASK)
    asked, _ = experiment(Words(str(folder), on=("sqlite",)))
    records = tmp_path / "records.sqlite"
    ended = lab.run(asked, records=records, sinks=[sink])
    with Store(records, must_exist=True) as store:
        (run,) = store.experiment(ended.experiment_id).runs
    assert run.driven is not None
    clients, deferred = run.driven.groups
    assert (clients.outcomes.ok, deferred.outcomes.ok, run.driven.outcomes.ok) == (60, 60, 120)
    assert METRICS["ok"].value(run) == 60
    per_s = METRICS["throughput_per_s"].value(run)
    assert per_s == pytest.approx(60e9 / run.driven.elapsed_ns)
    assert METRICS["latency_max_ns"].value(run) == clients.all_ok.latency.max_ns
    assert METRICS["deferred"].value(run) == 60
    assert sum(seconds.ok_per_second(run.driven)) == 60, "by the second as well"
    assert "write" not in cell_summary.medians_of_mix(
        [run]
    )  # its times stand apart, with the waits
    assert any("3 clients" in line for line in said) and not any("5 cl" in line for line in said)


DUMP = """PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE item(id integer primary key, name text);
INSERT INTO item VALUES(1,'a;b ''q''');
INSERT INTO item VALUES(2,'INSERT INTO item');
CREATE TABLE IF NOT EXISTS "odd name"(x);
INSERT INTO "odd name" VALUES(1);
CREATE VIEW v as select * from item;
COMMIT;
"""


def checked(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """What is refused, and what is not tried."""
    file = folder / "one.sql"
    file.write_text(text)
    workload = examined_script(str(file), {}).workload
    assert workload is not None
    (system,) = checked_choices.system_choices(["sqlite"])
    (place,) = storage_words.storage_choices(("here",))
    left: list[str] = []
    with running_system(system, place, connections=None) as running:
        return [one.message for one in refused_statements(workload, running, left)], left


def test_statements_of_tables_that_the_script_makes_are_no_mistakes(tmp_path: Path) -> None:
    """Others are tried nevertheless."""
    (said,), left = checked(tmp_path, DUMP + "select * from nowhere;\nselect * from item;\n")
    assert said.startswith(f"{tmp_path}/one.sql:10:1: ") and "nowhere" in said
    assert left == [
        f"{tmp_path}/one.sql: 7 statements not tried, as the script itself makes item, odd name, v"
    ]
    made = "create table tt(a int); insert into tt values (1); drop table tt;"
    found, left = checked(tmp_path, made + "".join(f"\nselect * from t{n};" for n in range(60)))
    assert left == [f"{tmp_path}/one.sql: 3 statements not tried, as the script itself makes tt"]
    assert len(found) == 51
    assert found[-1].startswith(f"{tmp_path}/one.sql:52: ")
    assert "10 statements in all, are not named" in found[-1]


def test_a_table_that_is_only_dropped_is_not_made_by_the_script() -> None:
    dialect = registry.dialects()["sqlite"]
    assert not authoring.own_tables("drop table t; select * from t;", dialect).names
    made = authoring.own_tables(
        "\\set n 1\ncreate temp view w as select 1; select :n from w;", dialect
    )
    assert (made.names, len(made.statements)) == ({"w"}, 1)


def test_a_script_file_has_the_variables_that_a_run_gives_it(tmp_path: Path) -> None:
    file = tmp_path / "builtin.sql"
    file.write_text("\\set aid random(1, 100000 * :scale)\nSELECT :aid;\n")
    assert examined_script(str(file), {}).problems == []
    file.write_text("SELECT :nothing;\n")
    assert len(examined_script(str(file), {}).problems) == 1


def test_recent_parts_are_named_and_those_of_a_month_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    assert measurement.kept_parts() == ""
    folder = state_directory().parent / measurement.PARTS
    folder.mkdir(parents=True)
    for name, days in (("run-1.json", 0.5), ("run-2.json", 2), ("run-3.json", 31)):
        (folder / name).write_text("{}")
        then_s = time.time() - days * 86400
        os.utime(folder / name, (then_s, then_s))
    said = measurement.kept_parts()
    assert said.endswith("(1 file, removed after 30 days): `assay merge --parts`")
    assert sorted(file.name for file in folder.iterdir()) == ["run-1.json", "run-2.json"]


WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "t"

[data]
source = "none"

[parameters.size]
type = "int"
default = 2
most = 9
help = "How large"

[tests.t]
title = "T"
help = "A test"
scripts = ["one"]
transactions = ":size"
"""


def declared_folder(folder: Path, more: str) -> str:
    (folder / "one.sql").write_text("select :size;\n")
    text = WORKLOAD.replace('":size"', "1") + more
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ('[report.t]\nblocks = "clinets"\n', 20, ("no such factor", "'clients'")),
        ('[report.t]\nvaleu = "elapsed"\n', 20, ("unknown key 'valeu'", "value")),
        ('[series.s]\ntitle = "S"\ncolumns = [{ title = "a", test = "t", value = "elapsed", '
         'independent_of = ["siez"] }]\n',
         21, ("no parameter is called 'siez'", "'size'")),
        ("[tests.t.defaults]\nsize = [1, 10]\n", 20, ("expected a whole number", "10")),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_at_its_line(
    tmp_path: Path, more: str, line: int, said: tuple[str, str]
) -> None:
    with pytest.raises(ExperimentError) as caught:
        check_declarations(reader.read(declared_folder(tmp_path, more)))
    whole = f"{caught.value.message}\n{caught.value.hint}"
    assert all(word in whole for word in said), whole
    assert caught.value.line == line


def test_a_parameter_of_a_published_table_is_one_of_the_workload(tmp_path: Path) -> None:
    (tmp_path / "published.toml").write_text(
        '[t]\nsource = "s"\nunit = "s"\ncolumns = ["a"]\nparameters = { siez = 1 }\nrows = []\n'
    )
    with pytest.raises(ExperimentError) as caught:
        check_declarations(reader.read(declared_folder(tmp_path, "")))
    assert caught.value.line == 5 and "'size'" in str(caught.value.hint)
    assert "no parameter is called 'siez'" in caught.value.message


def test_a_system_without_the_isolation_level_is_refused_alone(tmp_path: Path) -> None:
    folder = declared_folder(tmp_path, 'isolation = "read committed"\n')
    asked, _ = experiment(Words(folder, on=("sqlite", "null")))
    lab.run(asked, records=tmp_path / "r.sqlite")
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        states = [(run.system_label, run.state) for run in store.latest().runs]
    assert states == [("sqlite", "refused"), ("null", "done")]


A, B = invented.POSTGRESQL, invented.SQLITE

Truth = Callable[[PlannedRun], bool]


def executed(
    plan: Plan, is_disturbed: Truth, earlier: Sequence[PlannedRun] = (), *, repeats: bool = True
) -> list[PlannedRun]:
    """The runs that take place after ``earlier`` ones."""
    gone = {run.position for run in earlier}
    left = [run for run in plan.runs if run.position not in gone]
    simulated = invented.SimulatedRuns([*plan.runs, *earlier])
    repeating = Repeating(
        plan.experiment,
        [*earlier, *left],
        lambda position: Repetition(1.0, 1.0, 1.0, is_disturbed(simulated.runs[position])),
        lambda _: None,
        simulated.in_place_of if repeats else None,
    )
    return list(repeating.needed(left, earlier))


def shown(runs: Sequence[PlannedRun]) -> str:
    """``A1 B1 A2' B2``: with a mark for each time that it was measured again."""
    words = []
    for run in runs:
        name = "A" if run.cell.system == A else "B"
        mark = "" if run.in_place_of is None else "'"
        words.append(f"{name}{run.in_place_of or run.repetition}{mark}")
    return " ".join(words)


def disturbed(*named: str) -> Truth:
    return lambda run: shown([run]) in named


def test_a_disturbed_repetition_is_measured_again_beside_its_partner() -> None:
    plan = invented.plan([A, B], repetitions=3)
    truth = disturbed("A2", "B3")
    done = executed(plan, truth)
    assert shown(done) == "A1 B1 A2 A2' B2 A3 B3 B3'"
    first, second = done[2:4]
    assert second.seed == first.seed, "it does the same work"
    assert second.repetition == 4, "and no two runs of a cell have one number"
    assert shown(executed(plan, truth, repeats=False)) == "A1 B1 A2 B2 A3 B3"


def test_no_more_runs_are_added_than_were_planned() -> None:
    plan = invented.plan([A], repetitions=10)
    assert len(executed(plan, lambda _: True)) == 20
    of_a_phase = executed(plan, lambda run: run.repetition in (4, 11, 12))
    assert shown(of_a_phase) == "A1 A2 A3 A4 A4' A4' A4' A5 A6 A7 A8 A9 A10"
    assert shown(executed(invented.plan([A]), lambda _: True)) == "A1 A1'"
    # What is measured again is no further repetition: three are precise.
    precise = replace(plan, experiment=replace(plan.experiment, repetitions=1, precision=0.05))
    assert shown(executed(precise, disturbed("A2"))) == "A1 A2 A2' A3"
    of_time = replace(precise, experiment=replace(precise.experiment, budget_s=1e-9))
    assert shown(executed(of_time, lambda _: True)) == "A1"


def test_the_scripts_of_a_run_that_commits_nothing_are_not_searched_for_settings() -> None:
    """Those of a run that is refused may be in another language than its system's."""
    known = pool.CommitDurability(
        is_measured=True, may_commit=lambda _: False, session_settings={}.__getitem__
    )
    deployment = SimpleNamespace(commit_storage=SimpleNamespace(is_own_device=True))
    runs = invented.plan([SystemChoice("sqlite")]).runs
    known.measure(cast(Any, SimpleNamespace(deployment=deployment)), runs, print)


def test_an_experiment_that_is_continued_measures_the_same_again() -> None:
    plan = invented.plan([A, B], repetitions=3)
    truth = disturbed("A1", "A2", "A2'", "B3")
    whole = executed(plan, truth)
    assert shown(whole) == "A1 A1' B1 A2 A2' B2 A3 B3 B3'"
    for ended in range(9):
        earlier = sorted(whole[:ended], key=lambda run: run.position)
        assert shown(executed(plan, truth, earlier)) == shown(whole[ended:])


RUN = 7
EXCESS = goals.excess_of_goal(goals.goal("elapsed < 1s"))


class Clients:
    """Of one step of a test, that is under way."""

    def __init__(
        self, step: Step, steps: tuple[Step, ...] = (), before_s: float = 0.0, **document: float
    ) -> None:
        self.stop = Stop()
        store = SimpleNamespace(run_id=lambda: RUN)
        context = SimpleNamespace(stop=self.stop, store=store, excess=EXCESS)
        state: Any = SimpleNamespace(context=context, test=SimpleNamespace(steps=steps or (step,)))
        given: Any = SimpleNamespace(**{"ramp_up_s": None, "warm_up_s": 0.0, **document})
        early_end = EarlyEnd(cast("RunState", state), step)
        self.tell = early_end.during(cast("DriveDocument", given), int(before_s * 1e9))

    def are_ended(self, elapsed_s: float, done: int = 1) -> bool:
        with self.stop.of_run(RUN):
            self.tell(ClientsAtWork(DriveProgress(elapsed_s, done, None, done, 0, 1)))
            return self.stop.is_asked


@pytest.mark.parametrize(
    ("document", "looks"),
    [
        ({}, [(0.5, 1, False), (2.9, 1, False), (3.1, 1, True)]),
        ({}, [(9.0, 0, False), (0.1, 1, False), (3.1, 1, True)]),  # connecting
        ({"ramp_up_s": 1.0, "warm_up_s": 2.0}, [(5.9, 1, False), (6.1, 1, True)]),
        ({"before_s": 2.5}, [(0.6, 1, True)]),  # earlier parts
    ],
)
def test_clients_are_ended_at_three_times_the_limit_of_the_measurement(
    document: dict[str, float], looks: list[tuple[float, int, bool]]
) -> None:
    clients = Clients(Drive(), **document)
    for at_s, done, is_ended in looks:
        assert clients.are_ended(at_s, done) is is_ended
    with clients.stop.of_run(RUN):
        clients.tell(ClientsAtWork(DriveProgress(9.0, 1, None, 1, 0, 1)))
        reason = clients.stop.reason
    assert reason is not None and reason.run == RUN
    assert reason.exceeded == "elapsed time more than 3 s: ended, 3 times the limit"


def test_only_the_step_of_the_numbers_counts() -> None:
    first, last, dump = Drive(name="first"), Drive(name="last"), Dump(script="x")
    assert not Clients(first, (first, last, dump)).are_ended(9.0)
    assert Clients(last, (first, last, dump)).are_ended(9.0)
    result = Drive(name="result", is_result=True)
    assert Clients(result, (result, last)).are_ended(9.0)
    assert not Clients(last, (result, last)).are_ended(9.0)
