"""Takes the cells of a test and the rows made of them; gives the lines under the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.judge import verdict
from assay.report.declaration import Declaration
from assay.report.pivot import CellRuns
from assay.report.published import Published
from assay.report.values import MARKS, Row

_WHAT = {
    "elapsed": "time from the first client's start to the last client's end",
    "response_time": "mean response time of the transactions that ended ok",
    "throughput": "transactions that ended ok per second of the elapsed time",
    "size_on_disk": "size on disk after the load",
    "load_time": "time of loading, indexing and analyzing",
}


def explanation(declaration: Declaration, found: Sequence[CellRuns]) -> str:
    """What the numbers are."""
    most = max(len(cell.runs) for cell in found)
    over = f"; median of {most} repetitions (smallest-largest)" if most > 1 else ""
    if not declaration.has_speed_up:
        ratio = ""
    elif declaration.is_more_better:
        ratio = "; speed-up: other column ÷ first column"
    else:
        ratio = "; speed-up: first column ÷ other column"
    return f"{_WHAT[declaration.value]}{over}{ratio}"


def reasons(rows: Iterable[Row]) -> list[str]:
    """A line per verdict and reason, with how many numbers it is about; worst last."""
    numbers = [cell.number for row in rows for cell in row.cells if cell.number]
    measured = [one for one in numbers if one.verdict and one.unit != "ratio"]
    counts = Counter((one.verdict, one.reason) for one in measured if one.verdict != "valid")
    lines = [
        f"{MARKS[word]} {word}: {reason}"
        + (f" ({count} of {len(measured)} numbers)" if len(measured) > 1 else "")
        for (word, reason), count in sorted(
            counts.items(), key=lambda item: verdict.WORDS.index(item[0][0])
        )
    ]
    return lines or (["every number is valid"] if measured else [])


def failures(found: Iterable[CellRuns]) -> list[str]:
    """The runs that did not end well, each with its reason."""
    return [
        f"run {run.id}, {cell.name}: {run.state_shown}"
        for cell in found
        for run in cell.runs
        if run.state in ("failed", "interrupted")
    ]


def beside(published: Published | None, found: Iterable[CellRuns]) -> list[str]:
    """Where the published numbers are from, and whose stand beside which of our systems."""
    if published is None:
        return []
    notes = [f"published: {published.source}, in {published.unit}"]
    if published.conditions:
        notes[0] += f" ({published.conditions})"
    for cell in found:
        name = str(cell.factors["system"])
        row = published.row(cell.published_names, cell.factors)
        if row is not None and str(row["system"]).casefold() != name.casefold():
            notes.append(f"beside {name} stands {row['system']}")
        if row is None:
            notes += [
                f"published for {factor} = {', '.join(str(one) for one in there)}, not {here}"
                for factor, here in cell.factors.items()
                if (there := published.levels(factor)) and here not in there
            ]
    return list(dict.fromkeys(notes))
