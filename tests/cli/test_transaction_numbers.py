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


NEXT = """\
\\next taken
INSERT INTO data (id, value) VALUES (1000 + :taken, 0);
\\expect rows 1
\\acknowledged known taken
\\assert :known <= :taken
"""


def _shared_after(assay: Assay, folder: Path) -> tuple[int, int]:
    """How many numbers clients took of those that they share, and how many are acknowledged."""
    ended = assay("run", folder, "--on", "sqlite")
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    assert run.observation.outcomes.failed == 0
    (numbers,) = run.observation.shared_numbers
    return numbers.taken, numbers.acknowledged


def test_numbers_that_clients_share_go_on_in_a_later_step(assay: Assay, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "w", _steps("load", "first", "second", "open"), insert=NEXT)
    assert _shared_after(assay, folder) == (48, 48)
    again = folder_of(tmp_path / "again", _steps("load", "first", "load 2", "second"), insert=NEXT)
    assert _shared_after(assay, again) == (20, 20)


def test_clients_of_a_python_module_that_share_numbers_share_a_process(
    assay: Assay, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "w", _steps("load", "first"), insert=NEXT)
    ended = assay("run", folder, "--on", "dbapi:sqlite3[database=numbers.db]")
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    assert [one.taken for one in run.observation.shared_numbers] == [20]
