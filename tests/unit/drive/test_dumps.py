"""Dumps that differ: which rows are missing and which are unexpected is kept with the check."""

from __future__ import annotations

from assay.drive.query import StatementAnswer
from assay.judge.check.dumps import check_dumps


def _answer(*rows: tuple[str, ...]) -> StatementAnswer:
    return StatementAnswer(is_query=True, columns=("name", "exp"), rows=rows)


def test_a_dump_that_differs_keeps_each_row_that_is_missing_or_unexpected() -> None:
    expected = _answer(("A", "1"), ("B", "1"), ("B", "1"), ("C", "1"))
    found = _answer(("A", "1"), ("B", "1"), ("C", "2"))
    same, differing = check_dumps((expected, expected), (expected, found), (), "set", "its rows")
    assert "differing_rows" not in same
    assert differing["differing_rows"] == {
        "columns": ["name", "exp"],
        "missing": [["B", "1"], ["C", "1"]],
        "unexpected": [["C", "2"]],
    }


def test_of_clients_that_overtook_one_another_the_rows_are_kept_too() -> None:
    expected, found = _answer(("A", "1")), _answer(("A", "2"))
    own = _answer(("A",))
    (check,) = check_dumps((expected,), (found,), ((own, own),), "set", "its rows")
    assert check["ok"] is None
    assert check["differing_rows"]["missing"] == [["A", "1"]]
