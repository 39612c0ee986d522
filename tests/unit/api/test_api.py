"""`import assay` returns typed values with the numbers of the reports, its examples run, and two
runs at once are apart."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.contracts import stop
from assay.contracts.events import RunBegun
from assay.contracts.observation import Observation
from assay.contracts.stop import INTERRUPTED, Stopped, StopReason
from assay.errors import AssayError
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from waiting import HANG_S


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))


@pytest.mark.slow
@pytest.mark.parametrize("module", ["assay", "assay.api.running", "assay.api.records"])
def test_the_examples_of_the_docstrings_run(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert tried > 2
    assert not failed


@pytest.mark.slow
def test_everything_public_is_there_documented_and_imported_late() -> None:
    for name in assay.__all__:
        found = getattr(assay, name)
        assert name == "__version__" or found.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        _ = assay.rnu  # type: ignore[attr-defined]
    # It must not make the start of the program slower.
    code = "import assay, sys; print('assay.api' in sys.modules, 'assay.lab.lab' in sys.modules)"
    expected = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert expected.stdout == "False False\n"


@pytest.mark.slow
def test_a_result_has_the_numbers_of_the_reports() -> None:
    Path("one.sql").write_text("\\set y :x\nSELECT :y;\n")
    result = assay.run(
        script="one.sql",
        on=("sqlite", "null"),
        set={"x": [1, 2]},
        clients=2,
        transactions=400,
        repetitions=2,
        latency_limit_s="1s",
        records=Path("r.sqlite"),
    )
    assert result.is_ok
    assert [(one.system, one.parameters["x"]) for one in result.cells] == [
        ("sqlite", 1), ("null", 1), ("sqlite", 2), ("null", 2),
    ]  # fmt: skip
    cell = result.cells[0]
    assert (cell.repetitions, cell.measured) == (2, 2)
    assert (cell.memory_bytes, cell.cpus, cell.rtt_s) == (None, None, 0)
    assert cell.levels["client_program"] == cell.client_program == "engine"
    assert cell.levels["log_storage"] is None
    assert cell.throughput_per_s is not None
    assert cell.throughput_per_s.least <= cell.throughput_per_s.median
    assert cell.latency.p99_ns is not None
    assert cell.latency.p99_9_ns is None, "too few samples"
    run = result.runs[0]
    assert isinstance(run.observation, Observation)
    assert run.outcomes is not None
    assert run.outcomes.ok == 800
    assert run.fingerprint == cell.fingerprint
    assert "TPS" in result.report("table")
    (passes,) = [row for row in result.table("passes") if row["run"] == run.number] or [None]
    assert (run.passes is None) == (passes is None)
    document = json.loads(result.report("json"))
    assert document["tables"]["runs"] == result.table("runs")
    (storage,) = result.table("storages")
    assert (storage["storage"], storage["kind"], storage["is_own_device"]) == (
        "here",
        "here",
        False,
    )
    assert storage["size_bytes"] > 0 and run.storage == "here"

    records = assay.open("r.sqlite")
    assert (len(records), records.numbers) == (1, (1,))
    assert records[1].runs == records.latest.runs == result.runs
    with pytest.raises(assay.errors.ArgumentError, match="unknown table 'rnus'"):
        result.table("rnus")
    with pytest.raises(assay.errors.ArgumentError, match="no experiment 7"):
        records[7]
    for wrong in ("a", slice(1, 3), 1.5):
        with pytest.raises(assay.errors.ArgumentError, match="expected an experiment's number"):
            records[wrong]  # type: ignore[index]
    with pytest.raises(assay.errors.ArgumentError, match="no records at nowhere"):
        assay.open("nowhere")


@pytest.mark.slow
def test_runs_that_only_left_out_are_no_fault() -> None:
    Path("one.sql").write_text("SELECT 1;\n")
    Path("e.toml").write_text(
        'script = ["one.sql"]\nsystems = ["null", "sqlite"]\n[drive]\ntransactions = 5\n'
    )
    part = assay.run("e.toml", only="null", probe_s=0, durability=False)
    assert (part.is_ok, part.runs_ended, part.runs_planned) == (True, 1, 2)
    assert [run.state for run in part.runs] == ["done", "planned"]
    whole = assay.run("e.toml", probe_s=0)
    assert (whole.number, whole.is_ok, whole.runs_ended) == (part.number, True, 2)


@pytest.mark.slow
def test_a_notebook_shows_answers_chart_and_warnings() -> None:
    Path("one.sql").write_text("SELECT 1;\n")
    shown = assay.run("one.sql", on=["null", "sqlite"], transactions=5, probe_s=0)._repr_html_()
    assert shown.startswith('<section id="summary">') and "<svg" in shown
    # Which of the two is the faster one, and so the first, depends on the machine.
    either = ("null with sqlite", "sqlite with null")
    assert any(f"not comparable: {one}" in shown for one in either)
    assert "short-measurement" in shown and "<script" not in shown


@pytest.mark.slow
def test_a_data_frame_has_the_names_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("one.sql").write_text("SELECT 1;\n")
    result = assay.run("one.sql", on="null", transactions=5)
    (once,) = (one for one in result.warnings if one.name == "few-samples")
    assert (once.fix, type(once)) == ("more clients, or more transactions", assay.WarningNote)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(assay.errors.ArgumentError, match="needs pandas") as missing:
            result.to_pandas()
        assert missing.value.hint == "pip install pandas"
    pytest.importorskip("pandas")
    frame = assay.open().to_pandas("runs")
    assert list(frame.columns) == list(result.table("runs")[0])
    assert frame["ok"].tolist() == [5]


@pytest.mark.slow
def test_a_run_that_fails_is_part_of_the_result() -> None:
    Path("bad.sql").write_text("selec 1;\n")
    result = assay.run("bad.sql", on="sqlite", transactions=1)
    assert not result.is_ok
    assert result.runs[0].state == "failed"
    assert "syntax error" in result.runs[0].reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"duration_s": 0}, "duration_s: expected a number of seconds from 0.001"),
        ({"duration_s": True}, "duration_s: expected a number of seconds"),
        ({"set": {"y": "a,b"}}, "no script uses the variable :y"),
        ({"on": "oracel"}, "unknown system 'oracel'"),
        ({"on": 3}, "on: expected a name or several, found 3"),
        ({"set": "scale=1"}, "set: expected names with their values, found 'scale=1'"),
        ({"set": {"scale": None}}, "set: scale: expected a number, a text, True or False, found"),
        ({"duration": 1}, "there is no argument 'duration'\ndid you mean 'duration_s'?"),
        ({"think_time": 3}, "think_time: expected a text, found 3"),
        ({"reconnect": "yes"}, "reconnect: expected True or False, found 'yes'"),
        ({"records": 3}, "records: expected a path, found 3"),
        ({"script": 3}, "script: expected a path, found 3"),
        ({"clients": "1,x"}, "clients: expected a whole number"),
        ({"clients": {"readers": 1}}, "has no groups of clients\nclients=8, or a test with"),
        ({"arrival": "constant"}, "no rate is given\noffered_rate_per_s=1000"),
        ({"set": {"scale": ""}}, 'set={"scale": VALUE}'),
        ({"unknown": 5}, "there is no argument 'unknown'\nknown: again, allow_shell"),
        ({"memory": "8 gigs"}, 'found \'8 gigs\'\nmemory=["8GB", "1GB"]'),
        ({"memory": [None, None]}, "memory: none is given twice"),
        ({"cpus": []}, "cpus: expected one value or several, found []\nleave cpus out"),
        ({"storage": "loop[size=1G,size=2G]"}, 'storage=["loop[size=A]", "loop[size=B]"]'),
        ({"on": ["sqlite", "sqlite"]}, "on: sqlite is given twice\ngive it once; repetitions=2"),
        ({"on": ["a=null", "b=null"]}, "on: a and b are one and the same, which is given twice"),
        *(({"workload": wrong}, "workload: expected") for wrong in ("", None, 3)),
    ],
)
def test_invalid_arguments_are_refused_before_anything_is_started(
    asked: dict[str, Any], expected: str
) -> None:
    Path("one.sql").write_text("SELECT 1;\n")
    with pytest.raises(assay.errors.ArgumentError) as refused:
        assay.run(**{"workload": "one.sql", "on": "sqlite", **asked})
    assert expected in f"{refused.value.message}\n{refused.value.hint}"
    assert "--" not in f"{refused.value}{refused.value.hint}"
    assert not Path("assay-records.sqlite").exists()


WRONG = ["", "a\0b", "\ud800", 3, b"x", [], [3], {1: 2}, object()]


@pytest.mark.slow
def test_a_wrong_argument_is_an_error_of_assay() -> None:
    """Of every function, whatever the value: most are refused, some mean something."""
    result = assay.run(
        "tpcb", on="null", clients=[1, 2], transactions=5, warm_up_s=0, repetitions=2
    )
    records = assay.open()
    compared = assay.compare(result, between="clients")
    calls: dict[str, Callable[[Any], object]] = {
        "open": assay.open,
        "open[]": lambda wrong: records[wrong],
        "records.to_pandas": records.to_pandas,
        "table": result.table,
        "report": result.report,
        "compare": lambda wrong: assay.compare(wrong, result),
        "compare b": lambda wrong: assay.compare(result, wrong),
        "between": lambda wrong: assay.compare(result, between=wrong),
        "meets": compared.meets,
        **{name: partial(_compare, result, name) for name in ("metric", "despite", "records")},
        **{f"run {name}": partial(_run, name) for name in ("records", "script", "input", "on")},
    }
    other = [
        f"{name}({wrong!r}): {error!r}"
        for name, call in calls.items()
        for wrong in WRONG
        if (error := _error(call, wrong)) and not isinstance(error, AssayError)
    ]
    assert not other, "\n".join(other)


def _compare(result: assay.Result, name: str, wrong: Any) -> None:
    assay.compare(result, **{"between": "clients", name: wrong})


def _run(name: str, wrong: Any) -> None:
    words = {
        "workload": "tpcb", "on": "null", "transactions": 2, "warm_up_s": 0, "records": "w.sqlite",
    }  # fmt: skip
    assay.run(**{**words, name: wrong})


def _error(call: Callable[[Any], object], wrong: Any) -> Exception | None:
    try:
        call(wrong)
    except Exception as error:
        return error
    return None


def test_a_request_to_stop_ends_one_experiment_of_two(tmp_path: Path) -> None:
    """Each has a token of its own, where the caller gives none."""
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    both, ended = threading.Barrier(2), {}

    def run(number: int) -> None:
        def sink(event: Any) -> None:
            if isinstance(event, RunBegun):
                both.wait(HANG_S)
                if number == 1:
                    stop._of_work.get().ask(StopReason("a test", INTERRUPTED))
                both.wait(HANG_S)

        words = Words(str(tmp_path / "one.sql"), on=("null",), transactions=10)
        asked, workload = experiment(words)
        try:
            result = lab.run(asked, workload, records=tmp_path / f"{number}.sqlite", sinks=[sink])
            ended[number] = result.exit_code
        except Stopped as error:
            ended[number] = error.reason.name
        except Exception as error:  # in a thread it would be lost
            ended[number] = "".join(traceback.format_exception(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(HANG_S)
    assert ended == {1: "a test", 2: 0}
    assert not stop.NEVER.is_asked
