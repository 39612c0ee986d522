"""Takes the cells of a test; returns its result checks: rows expected, rows found, and whether all
systems returned the same rows; of dumps that differ, the first rows that do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from assay.judge.check.answers import Check, expected_rows, is_counted, is_not_run, not_applicable
from assay.judge.check.dumps import shown_row
from assay.load.dataset_facts import DatasetFacts
from assay.record import RunRecord
from assay.report.cells.cell_runs import CellRuns
from assay.report.sections import check_counts
from assay.report.values import (
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
    run_number,
    text,
)

_MOST_ROWS = 5
"""That are shown of those missing in a dump, and of those unexpected."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """A table for each data set that was asked; None where nothing was checked."""
    by_data: dict[tuple[object, ...], list[RunRecord]] = {}
    for cell in cells:
        for run in cell.runs:
            if run.checks:
                by_data.setdefault(_data_of(run), []).append(run)
    if not by_data:
        return None
    tables = tuple(
        _table(f"{test}_checks" + (f"_{place}" if place else ""), runs)
        for place, runs in enumerate(by_data.values())
    )
    differing = _differing_rows(test, [run for cell in cells for run in cell.runs])
    return Section("Result checks", tuple(_lines(by_data.values())), (*tables, *differing))


def _differing_rows(test: str, runs: Iterable[RunRecord]) -> Iterator[ReportTable]:
    """The first rows of each dump that are missing or unexpected; none where no dump differs."""
    rows: list[Row] = []
    columns: dict[str, None] = {}
    for run in runs:
        for check in run.checks:
            if (differing := check.get("differing_rows")) is None:
                continue
            columns[", ".join(differing["columns"])] = None
            for difference, of_dump in (
                ("missing", differing["missing"]),
                ("unexpected", differing["unexpected"]),
            ):
                head = (run_number(run.id), text(check["id"]), text(difference))
                rows += [Row((*head, text(shown_row(row)))) for row in of_dump[:_MOST_ROWS]]
    if rows:
        yield ReportTable(
            name=f"{test}_differing_rows",
            title="Rows that differ from the expected dump",
            label_columns=3,
            columns=(
                ReportColumn("run", is_number=True),
                *map(ReportColumn, ("check", "difference", "row")),
            ),
            rows=tuple(rows),
            notes=(
                f"row: {'; '.join(columns)}",
                f"{_MOST_ROWS} of each kind and check at most; all of them are in the record, in "
                "its view differing_rows",
            ),
        )


def _lines(of_data: Collection[Sequence[RunRecord]]) -> Iterator[str]:
    """What is the same on several data sets once."""
    same: dict[str, dict[str, None]] = {}
    for runs in of_data:
        described = same.setdefault(_summary(runs), {})
        described |= dict.fromkeys(_described(run.data) for run in runs)
    for line, described in same.items():
        if len(of_data) == 1:
            yield line
        elif len(same) == 1:
            yield f"{line}, on each of {len(of_data)} data sets"
        else:
            yield f"{line}; on {'; '.join(described)}"


def _table(name: str, runs: Sequence[RunRecord]) -> ReportTable:
    labels = list(dict.fromkeys(run.system_on_machine for run in runs))
    by_id = _checks_by_id(runs)
    agreements = {check_id: _agreement(runs, check_id) for check_id in by_id}
    has_digests = any(agreements.values())
    rows = []
    for check_id, checks in by_id.items():
        # A check that one system cannot express says nothing of the rows that others should find.
        known = next((check for _, check in checks if not is_not_run(check)), checks[0][1])
        expected = None if is_not_run(known) else expected_rows(known)
        why_absent = "only counted" if is_counted(known) else "unknown"
        why_unknown = known["note"] if known["ok"] is None and not is_not_run(known) else ""
        by_label = [
            [(run, check) for run, check in checks if run.system_on_machine == label]
            for label in labels
        ]
        rows.append(
            Row(
                (
                    ReportCell(str(check_id)),
                    ReportCell(str(checks[0][1]["title"])),
                    absent(why_absent, why_unknown) if expected is None else count(expected),
                    *(_found(of_system) for of_system in by_label),
                    *([ReportCell(agreements[check_id])] if has_digests else []),
                )
            )
        )
    described = dict.fromkeys(_described(run.data) for run in runs)
    return ReportTable(
        name=name,
        label_columns=2,
        title=f"Rows found on {'; '.join(described)}",
        columns=(
            ReportColumn("check"),
            ReportColumn("title"),
            ReportColumn("expected", is_number=True),
            *(ReportColumn(label, is_number=True) for label in labels),
            *([ReportColumn("same rows")] if has_digests else []),
        ),
        rows=tuple(rows),
        notes=(
            *(
                ["same rows: in every answer to every client, of every system (by digest)"]
                if has_digests
                else []
            ),
        ),
    )


def _found(checks: Sequence[tuple[RunRecord, Check]]) -> ReportCell:
    """What one system found, over all its runs."""
    missing = [check["note"] for _, check in checks if is_not_run(check)]
    if missing:
        return absent("–", note=missing[0])
    numbers = list(dict.fromkeys(check["found"] for _, check in checks))
    wrong = dict.fromkeys(
        # Of systems that differ none is known to be wrong, and all have the same note.
        check["note"] if check["expected"] is None else f"run {run.id}: {check['note']}"
        for run, check in checks
        if check["ok"] is False
    )
    if not numbers:
        return absent("")
    if len(numbers) == 1 and numbers[0] is not None and not wrong:
        return count(numbers[0])
    listed = ", ".join("none" if number is None else str(number) for number in numbers)
    is_known = checks[0][1]["expected"] is not None
    head = f"wrong: {checks[0][1]['id']}" if is_known else checks[0][1]["id"]
    note = f"{head}, {'; '.join(wrong)}" if wrong else ""
    return ReportCell(f"{listed}{'!' if wrong else ''}", note=note)


def _agreement(runs: Iterable[RunRecord], check_id: str) -> str:
    """Whether all answers to a statement were the same rows, over clients, runs and systems."""
    runs = list(runs)
    summed = [one for run in runs if run.driven for one in run.driven.answer_sums]
    if any(one.transaction == check_id for one in summed):
        compared = {check["ok"] for run in runs for check in run.checks if check["id"] == check_id}
        return "no" if False in compared else "yes" if True in compared else ""
    results = [
        result
        for run in runs
        for result in (run.driven.results if run.driven else ())
        if result.transaction == check_id
    ]
    digests = {(result.statement, result.digest) for result in results}
    statements = {result.statement for result in results}
    if not results:
        return ""
    is_same = len(digests) == len(statements) and not any(one.differing for one in results)
    return "yes" if is_same else "no"


def _summary(runs: Sequence[RunRecord]) -> str:
    line = f"checks  {check_counts.words(runs)}"
    rated = {check["id"] for run in runs for check in run.checks if check["expected"] is not None}
    agreements = [found for check_id in rated if (found := _agreement(runs, check_id))]
    if agreements:
        line += f"; the same rows everywhere: {agreements.count('yes')} of {len(agreements)}"
    return line


def _checks_by_id(
    runs: Iterable[RunRecord],
) -> dict[str, list[tuple[RunRecord, Check]]]:
    by_id: dict[str, list[tuple[RunRecord, Check]]] = {}
    for run in runs:
        for check in run.checks:
            by_id.setdefault(check["id"], []).append((run, check))
    return by_id


def _described(data: DatasetFacts | None) -> str:
    if data is None or not data.description:
        return "these data"
    return data.description + (f", {data.replicas} replicas" if data.replicas > 1 else "")


def _data_of(run: RunRecord) -> tuple[object, ...]:
    """Runs are asked the same only where their data are the same. Those of a test that compares
    systems are, also in the tables of another language, which have another fingerprint."""
    if run.driven and run.driven.answer_sums:
        return tuple(run.parameters.items())
    data: DatasetFacts | None = run.data
    if data is None:
        return ()
    asked = not_applicable(run.checks)
    return (data.fingerprint, data.replicas, data.variant, data.description, asked)
