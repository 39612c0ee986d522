"""`:transaction_number` goes on from one step that drives to the next, until data are loaded."""

from __future__ import annotations

from pathlib import Path

from commands import Assay
from step_workloads import folder_of

INSERT = """\
INSERT INTO data (id, value) VALUES (1000 + 100 * :client_id + :transaction_number, 0);
\\if :rows_changed <> 1
\\abort
\\endif
"""
DRIVE = """
[[tests.t.steps]]
do = "drive"
name = "{name}"
scripts = ["insert.sql"]
clients = 2
{how}
"""
OPEN = 'queue = 8\narrival = "constant"\noffered_rate_per_s = 500'
LOAD = '\n[[tests.t.steps]]\ndo = "load"\nname = "{name}"\n'


def _steps(*names: str) -> str:
    made = [
        LOAD.format(name=name)
        if name.startswith("load")
        else DRIVE.format(name=name, how=OPEN if name.startswith("open") else "transactions = 10")
        for name in names
    ]
    return "".join(made)


def _next_after(assay: Assay, folder: Path) -> int:
    """The number of the transaction that would be next; every insert found its key free."""
    ended = assay("run", folder, "--on", "sqlite")
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    outcomes = run.observation.outcomes
    assert (outcomes.failed, outcomes.aborted) == (0, 0)
    return run.observation.next_transaction


def test_a_later_step_inserts_other_keys(assay: Assay, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "w", _steps("load", "first", "second", "open"), insert=INSERT)
    assert _next_after(assay, folder) == 10 + 10 + 8


def test_where_data_are_loaded_anew_the_numbers_begin_anew(assay: Assay, tmp_path: Path) -> None:
    steps = _steps("load", "first", "load again", "second")
    assert _next_after(assay, folder_of(tmp_path / "w", steps, insert=INSERT)) == 10
