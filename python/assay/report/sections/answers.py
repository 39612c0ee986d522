"""Takes the cells of a test; returns its result checks: rows expected, rows found, and whether all
systems returned the same rows; of dumps that differ, the first rows that do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter

from msgspec import Struct, field

from assay.contracts.metric import ReportColumn
from assay.judge.result_checks import (
    Check,
    expected_rows,
    is_counted,
    is_not_run,
    not_applicable,
    shown_row,
)
from assay.load.dataset import Dataset
from assay.record import Run
from assay.report import columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import numbers, run_column, words
from assay.report.values import ReportCell, ReportTable, Section, absent, count
from assay.text.units import counted

_MOST_ROWS = 5
"""That are shown of those missing in a dump, and of those unexpected."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """A table for each data set that was asked; None where nothing was checked."""
    by_data: dict[tuple[object, ...], list[Run]] = {}
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


def _differing_rows(test: str, runs: Iterable[Run]) -> Iterator[ReportTable]:
    """The first rows of each dump that are missing or unexpected; none where no dump differs."""
    rows: list[tuple[int, str, str, str]] = []
    header: dict[str, None] = {}
    for run in runs:
        for check in run.checks:
            if (differing := check.get("differing_rows")) is None:
                continue
            header[", ".join(differing["columns"])] = None
            for difference, of_dump in (
                ("missing", differing["missing"]),
                ("unexpected", differing["unexpected"]),
            ):
                shown = map(shown_row, of_dump[:_MOST_ROWS])
                rows += [(run.id, check["id"], difference, row) for row in shown]
    if rows:
        yield columns.table(
            f"{test}_differing_rows",
            "Rows that differ from the expected dump",
            (
                run_column(itemgetter(0)),
                words("check", itemgetter(1), is_label=True),
                words("difference", itemgetter(2), is_label=True),
                words("row", itemgetter(3)),
            ),
            rows,
            notes=(
                f"row: {'; '.join(header)}",
                f"{_MOST_ROWS} of each kind and check at most; all of them are in the record, in "
                "its view differing_rows",
            ),
        )


def _lines(of_data: Collection[Sequence[Run]]) -> Iterator[str]:
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


def _table(name: str, runs: Sequence[Run]) -> ReportTable:
    labels = list(dict.fromkeys(run.system_on_machine for run in runs))
    by_id = _checks_by_id(runs)
    agreements = {check_id: _agreement(runs, check_id) for check_id in by_id}
    described = dict.fromkeys(_described(run.data) for run in runs)

    def of_system(label: str) -> ReportColumn:
        def shown(check_id: str) -> ReportCell:
            checks = by_id[check_id]
            return _found([(run, one) for run, one in checks if run.system_on_machine == label])

        return numbers(label, shown)

    same_rows = [words("same rows", agreements.__getitem__)] if any(agreements.values()) else []
    return columns.table(
        name,
        f"Rows found on {'; '.join(described)}",
        (
            words("check", str, is_label=True),
            words("title", lambda check_id: by_id[check_id][0][1]["title"], is_label=True),
            numbers("expected", lambda check_id: _expected(by_id[check_id])),
            *map(of_system, labels),
            *same_rows,
        ),
        by_id,
        notes=(
            ("same rows: in every answer to every client, of every system (by digest)",)
            if same_rows
            else ()
        ),
    )


def _expected(checks: Sequence[tuple[Run, Check]]) -> ReportCell:
    # A check that one system cannot express says nothing of the rows that others should find.
    known = next((check for _, check in checks if not is_not_run(check)), checks[0][1])
    if not is_not_run(known) and (expected := expected_rows(known)) is not None:
        return count(expected)
    why_unknown = known["note"] if known["ok"] is None and not is_not_run(known) else ""
    return absent("only counted" if is_counted(known) else "unknown", why_unknown)


def _found(checks: Sequence[tuple[Run, Check]]) -> ReportCell:
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


def _agreement(runs: Iterable[Run], check_id: str) -> str:
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


def _summary(runs: Sequence[Run]) -> str:
    line = f"checks  {check_words(runs)}"
    rated = {check["id"] for run in runs for check in run.checks if check["expected"] is not None}
    agreements = [found for check_id in rated if (found := _agreement(runs, check_id))]
    if agreements:
        line += f"; the same rows everywhere: {agreements.count('yes')} of {len(agreements)}"
    return line


def _checks_by_id(runs: Iterable[Run]) -> dict[str, list[tuple[Run, Check]]]:
    by_id: dict[str, list[tuple[Run, Check]]] = {}
    for run in runs:
        for check in run.checks:
            by_id.setdefault(check["id"], []).append((run, check))
    return by_id


def _described(data: Dataset | None) -> str:
    if data is None or not data.request.description:
        return "these data"
    replicas = data.request.replicas
    return data.request.description + (f", {replicas} replicas" if replicas > 1 else "")


def _data_of(run: Run) -> tuple[object, ...]:
    """Runs are asked the same only where their data are the same. Those of a test that compares
    systems are, also in the tables of another language, which have another fingerprint."""
    if run.driven and run.driven.answer_sums:
        return tuple(run.parameters.items())
    if run.data is None:
        return ()
    data, asked = run.data.request, not_applicable(run.checks)
    return (data.fingerprint, data.replicas, data.variant, data.description, asked)


_REAL = "real"
"""The source of data that others have published."""
_DIGEST_SHOWN = 12


class CheckCounts(Struct):
    right: int = 0
    wrong: dict[str, None] = field(default_factory=dict)
    """``rows``; where there are several systems, ``rows (SYSTEM)``."""
    wrong_count: int = 0
    alike: int = 0
    """Answers without an expected result that are the same in all runs."""
    different: dict[str, None] = field(default_factory=dict)
    """Names of those that are not."""
    alone: int = 0
    """Those that only one run gave."""
    not_run: dict[tuple[str, str], int] = field(default_factory=dict)
    """(system, reason) → how many."""
    counted: dict[str, list[int]] = field(default_factory=dict)
    """As `wrong`; the rows that each run found."""
    not_decided: dict[str, None] = field(default_factory=dict)
    """As `wrong`; those whose right answer depends on the order of clients."""
    are_repeated: bool = False
    """Whether one with an expected result was run several times on a system."""
    compared_systems: int = 0

    @property
    def compared(self) -> int:
        return self.alike + len(self.different)


def check_counts_of(runs: Sequence[Run]) -> CheckCounts:
    by_system: dict[tuple[str, str], list[Check]] = {}
    unrated: dict[str, list[tuple[str, Check]]] = {}
    for run in runs:
        for check in run.checks:
            if check["expected"] is None:
                unrated.setdefault(check["id"], []).append((run.system_on_machine, check))
            else:
                by_system.setdefault((run.system_on_machine, check["id"]), []).append(check)
    found = CheckCounts()
    are_several = len({label for label, _ in by_system}) > 1
    for (label, id_), checks in by_system.items():
        name = f"{id_} ({label})" if are_several else id_
        missing = [check for check in checks if is_not_run(check)]
        if missing:
            key = (label, missing[0]["note"].removeprefix("not run: "))
            found.not_run[key] = found.not_run.get(key, 0) + 1
        elif any(check["ok"] is False for check in checks):
            found.wrong[name] = None
            found.wrong_count += 1
        elif any(map(is_counted, checks)):
            found.counted[name] = [check["found"] or 0 for check in checks]
        elif all(check["ok"] is True for check in checks):
            found.right += 1
            found.are_repeated |= len(checks) > 1
        else:
            found.not_decided[name] = None
    for id_, answers in unrated.items():
        if any(check["ok"] is False for _, check in answers):
            found.different[id_] = None
        elif len(answers) > 1:
            found.alike += 1
        else:
            found.alone += 1
    found.compared_systems = len({label for one in unrated.values() for label, _ in one})
    return found


def _unknown_editions(runs: Sequence[Run]) -> list[str]:
    """Why real data have no expected results, which are known by the digest of an edition, and for
    some values of parameters."""
    editions = {
        run.data.request.fingerprint: run.data.request.items
        for run in runs
        if run.data
        and run.data.request.origin == _REAL
        and sum(map(_is_unrated, run.checks)) > len(not_applicable(run.checks))
    }
    return [
        *dict.fromkeys(why for run in runs for why in not_applicable(run.checks)),
        *(
            f"none is known for this edition of the data ({counted(items, 'item')}, "
            f"digest {digest[:_DIGEST_SHOWN]})"
            for digest, items in editions.items()
        ),
    ]


def _is_unrated(check: Check) -> bool:
    return check["expected"] is None and not is_not_run(check)


def check_words(runs: Sequence[Run]) -> str:
    """``6 of 6 right; SYSTEM: 2 not run: REASON``; empty where there were no checks."""
    found = check_counts_of(runs)
    parts = []
    if rated := found.right + found.wrong_count:
        each = ", each in all its runs" if found.are_repeated else ""
        parts.append(f"{found.right} of {rated} right{each}")
    if found.wrong:
        parts.append(f"wrong: {', '.join(found.wrong)}")
    if found.counted:
        each_counted = (f"{name} {_range(rows)}" for name, rows in found.counted.items())
        parts.append(f"{len(found.counted)} only counted: {', '.join(each_counted)}")
    if found.not_decided:
        parts.append(f"{len(found.not_decided)} not decided: {', '.join(found.not_decided)}")
    several = f"on all {found.compared_systems} systems" if found.compared_systems > 1 else ""
    where = f"the same {several or 'in all runs'}"
    if found.different:
        parts.append(f"{found.alike} of {counted(found.compared, 'compared answer')} {where}")
        parts.append(f"different: {', '.join(found.different)}")
    elif found.alike:
        parts.append(f"{counted(found.alike, 'answer')} compared: {where}")
    if found.alone:
        parts.append(f"{found.alone} without an expected result")
    if found.compared or found.alone:
        parts += _unknown_editions(runs)
    for (label, why), number in found.not_run.items():
        parts.append(f"{label}: {number} not run: {why}")
    return "; ".join(parts)


def _range(rows: Sequence[int]) -> str:
    """``14``; of runs that differ ``0 to 14``."""
    least, most = min(rows), max(rows)
    return str(least) if least == most else f"{least} to {most}"
