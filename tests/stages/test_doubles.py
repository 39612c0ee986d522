"""Systems of other packages keep the contracts and are run like built-in ones: one that takes
documents and no SQL, and one of three nodes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import doubles
import forked_programs
from assay import comparison, registry, systems
from assay.contracts.events import ClientsAtWork, Event
from assay.errors import ExperimentError, ScriptError, SystemDied
from assay.experiment.from_command_line import Words, experiment
from assay.judge.result_checks import Check
from assay.judge.run import Run
from assay.lab import lab
from assay.lab.run_context import outcome
from assay.lab.run_context.context import RunState, broken_rules
from assay.provision import processes
from assay.provision.undo import ledger
from assay.record import Store
from assay.report import comparison_report as compared_report
from assay.report.build import build
from assay.report.forms import table
from assay.report.summaries import first_look
from assay.workload import reader
from shown_report import text_of
from waiting import wait_until


@pytest.fixture(autouse=True)
def _registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with doubles.registered():
        yield
    assert list(ledger.state_directory().iterdir()) == [], "nothing is left"


def ran(tmp_path: Path, system: str, **words: object) -> Run:
    asked, _ = experiment(Words(str(doubles.WORKLOAD), on=(system,), **words))  # type: ignore[arg-type]
    lab.run(asked, records=tmp_path / "r.sqlite")
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        (run,) = store.latest().runs
    return run


@pytest.mark.parametrize("name", ["documents", "three-nodes", "traced"])
def test_the_doubles_keep_the_contract_of_a_system(name: str) -> None:
    assert name in registry.systems()
    systems.validate(registry.system(name))


def test_a_system_of_another_package_is_found_by_the_command(tmp_path: Path) -> None:
    done = forked_programs.run(
        "assay", ["list", "systems"], folder=tmp_path, packages=doubles.FOLDER
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in ("documents", "three-nodes", "traced"))


def test_documents_are_loaded_driven_and_checked_without_sql(tmp_path: Path) -> None:
    run = ran(tmp_path, "documents", clients="3")
    assert (run.state, run.reason or "") == ("done", "")
    assert run.driven is not None and run.data is not None
    assert run.data.rows == {"accounts": 30}
    assert run.data.size_on_disk_bytes is None, "it does not say"
    assert run.driven.outcomes.ok == 60
    (check,) = run.checks
    assert (check["ok"], check["title"]) == (True, "No account is in debt."), "not the override's"
    assert "SELECT" not in str(run.scripts)


def test_a_script_of_sql_is_refused_before_a_system_of_documents_is_started(tmp_path: Path) -> None:
    script = tmp_path / "touch.txt"
    script.write_text("SELECT 1;\n", encoding="utf-8")
    asked, _ = experiment(Words("", script=(str(script),), on=("documents",)))
    with pytest.raises(ScriptError, match=r"expected a JSON document, found .SELECT 1"):
        lab.run(asked, records=tmp_path / "r.sqlite")


def test_clients_share_the_endpoints_of_three_nodes(tmp_path: Path) -> None:
    """Six clients on three nodes that take two sessions each: client c goes to node c mod 3."""
    for attempt in range(4):
        records = tmp_path / str(attempt)
        records.mkdir()
        run = ran(records, "three-nodes[sessions_each=2]", clients="6")
        # A busy machine may not have ended the session that asked whether a node is ready.
        if "all of them are open" not in (run.reason or ""):
            break
    assert (run.state, run.reason or "") == ("done", "")
    assert run.driven is not None and run.deployment is not None
    assert run.driven.outcomes.ok == 120
    assert [node.name for node in run.deployment.nodes] == ["node-0", "node-1", "node-2"]
    assert len({one.unix for one in run.deployment.endpoints}) == 3
    assert all(timed.sample.processes == 3 for timed in run.samples)


def test_nodes_of_one_machine_are_warned_of_where_they_are_compared_with_one_server(
    tmp_path: Path,
) -> None:
    words = Words(str(doubles.WORKLOAD), on=("null", "three-nodes"), clients="3", repetitions=2)
    asked, _ = experiment(words)
    lab.run(asked, records=tmp_path / "r.sqlite")
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        found = store.latest()
    name = "nodes-on-one-machine"
    of_systems = {run.system: [one.name for one in run.warnings] for run in found.runs}
    assert name in of_systems["three-nodes"] and name not in of_systems["null"]
    report = build(found)
    assert [one.details for one in report.warnings if one.name == name] == [
        ("three-nodes: 3 nodes",)
    ]
    assert "nodes on one machine" in " ".join(first_look.lines(found, report, 100, "more"))
    side = comparison.side("A", "", [found])
    compared = comparison.compare(side, None, between="system")
    # A reason may be wrapped between any two of its words.
    assert "nodes on one machine" in " ".join(
        text_of(table, compared_report.build(compared), True).split()
    )


def test_a_client_beyond_the_limit_of_its_node_is_refused(tmp_path: Path) -> None:
    run = ran(tmp_path, "three-nodes[sessions_each=2]", clients="7")
    assert run.state == "failed"
    # The server's word for it, or the engine's, whichever client is refused first.
    assert re.search("too many|allows 2 sessions", run.reason or "")


class _KillsTheLastNode:
    """While clients work at the other two."""

    def __init__(self) -> None:
        self.nodes = list[int]()

    def __call__(self, event: Event) -> None:
        if not self.nodes and isinstance(event, ClientsAtWork) and event.report.done:
            self.nodes = list(processes._running)
            os.kill(self.nodes[-1], signal.SIGKILL)


def test_a_run_ends_when_any_process_of_its_system_has_died(tmp_path: Path) -> None:
    """Also where no client has a session with that process."""
    asked, _ = experiment(
        Words(str(doubles.WORKLOAD), on=("three-nodes",), clients="1", duration_s=120.0)
    )
    result = lab.run(asked, records=tmp_path / "r.sqlite", sinks=[_KillsTheLastNode()])
    assert result.exit_code == SystemDied.exit_code
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        (run,) = store.latest().runs
    program = Path(sys.executable).name
    assert f"node-2 of three-nodes ({program}) was ended by SIGKILL" in (run.reason or "")
    assert run.driven is not None and run.driven.elapsed_ns < 60e9
    assert run.driven.ended_by == "lost" and run.driven.outcomes.ok > 0
    assert not run.is_measured, "it has no number"
    assert run.checks == (), "and nothing was asked of what is left"


def test_a_check_that_finds_no_server_was_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def after_its_end(state: RunState, parameters: Mapping[str, Any]) -> list[Check]:
        server = processes.running_server(state.up().deployment.server_pid)
        assert server is not None
        server.send(signal.SIGKILL)
        wait_until(server.died, "its end is known")
        return broken_rules(state, parameters)

    monkeypatch.setattr(outcome, "broken_rules", after_its_end)
    run = ran(tmp_path, "three-nodes", clients="2")
    (check,) = run.checks
    assert (check["id"], check["found"], check["ok"]) == ("negative", None, None)
    assert check["note"].startswith("not run: node-0 of three-nodes (")
    assert "was ended by SIGKILL" in check["note"]
    assert run.state == "failed" and "was ended by SIGKILL" in (run.reason or "")
    assert run.driven is not None and run.driven.outcomes.ok == 40


def test_a_missing_capability_is_refused_with_a_reason(tmp_path: Path) -> None:
    words = ["run", f"{doubles.WORKLOAD}.together", "--on", "documents"]
    done = forked_programs.run("assay", words, folder=tmp_path, packages=doubles.FOLDER)
    assert done.returncode == 2, done.stderr
    with Store(tmp_path / "assay-records.sqlite", must_exist=True) as store:
        (run,) = store.latest().runs
    reason = (
        "documents does not support transactions (several statements take effect together or not "
        "at all), restart (a private server can be stopped and started again on its data)"
    )
    assert (run.state, run.reason) == ("refused", reason)
    assert run.deployment is None, "nothing was started"


_LEVELS = """
[parameters.how]
type = "text"
default = "apart"
levels = ["apart", "together"]
help = "How"

[parameters.how.needs]
together = ["transactions"]
"""


def test_a_level_that_needs_what_the_system_lacks_is_refused_and_the_others_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "levels"
    shutil.copytree(doubles.WORKLOAD, folder)
    with (folder / "workload.toml").open("a", encoding="utf-8") as file:
        file.write(_LEVELS)
    (folder / "checks" / "double.sql").write_text("-- No account twice\nSELECT 1 WHERE 1 = 2;\n")
    asked, _ = experiment(Words(str(folder), on=("documents",), set=("how=apart,together",)))
    lab.run(asked, records=tmp_path / "r.sqlite")
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        runs = store.latest().runs
    states = {run.parameters["how"]: (run.state, run.reason) for run in runs}
    checks = {check["id"]: (check["ok"], check["note"]) for run in runs for check in run.checks}
    assert checks == {"negative": (True, ""), "double": (None, "not run: it has no text in json")}
    assert states["apart"] == ("done", "")
    assert states["together"] == (
        "refused",
        "how=together: documents does not support transactions (several statements take effect "
        "together or not at all)",
    )


@pytest.mark.parametrize(
    ("needs", "complaint"),
    [
        ('apart = ["transactoins"]', "unknown capability 'transactoins'"),
        ('alone = ["transactions"]', "alone is not a level: apart, together"),
    ],
)
def test_needs_of_a_level_are_placed_where_they_are_wrong(
    tmp_path: Path, needs: str, complaint: str
) -> None:
    folder = tmp_path / "levels"
    shutil.copytree(doubles.WORKLOAD, folder)
    text = (folder / "workload.toml").read_text("utf-8")
    wrong = text + _LEVELS.replace('together = ["transactions"]', needs)
    (folder / "workload.toml").write_text(wrong, "utf-8")
    with pytest.raises(ExperimentError, match=complaint) as refused:
        reader.read(str(folder))
    assert refused.value.line == len(wrong.splitlines())
