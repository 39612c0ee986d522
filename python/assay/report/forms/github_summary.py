"""Writes a `Report` as a short summary in GitHub's Markdown: the verdict, a line per cell, and the
rest folded, for a pull request or the summary of a job (``$GITHUB_STEP_SUMMARY``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from assay.judge.run import judged_in_words
from assay.judge.statistics.samples import NOT_REACHED
from assay.report.for_people import for_people
from assay.report.forms.markdown import answer_lines, table_lines
from assay.report.program_tables import SHOWN_IF_VARIED
from assay.report.values import CLAIMS, Report, TidyRow, number_in, whole_in, word_in
from assay.text import table_forms, units
from assay.text.table_forms import markdown_escaped

_MOST_CELLS = 200
"""A page of a job may have one megabyte; further cells are left to the full report."""
_SIGNS = {"valid": "✅ valid", "unreliable": "⚠️ unreliable", "invalid": "❌ invalid"}
_NOT_FOLDED = ("unfinished", "parameters")
"""Facts without which the table would be misread."""
_FACTORS = ("test", "system", "storage", "clients")


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the summary; with ``detail`` the tables of the report as well, folded."""
    for line in _lines(for_people(report), bool(detail)):
        stream.write(line + "\n")


def _lines(report: Report, with_detail: bool) -> Iterator[str]:
    tables = report.tidy["tables"]
    yield f"### {markdown_escaped(report.title)}"
    yield ""
    yield from answer_lines(report)
    of_all = _shared_reason(tables["cells"])
    yield judged_in_words(_verdicts(tables["cells"]), markdown_escaped(of_all))
    for name in _NOT_FOLDED:
        if name in report.facts:
            yield from ("", f"{name}: {markdown_escaped(report.facts[name])}")
    yield ""
    yield from _cells(tables["cells"], tables["runs"], has_reasons=not of_all)
    yield from _claims(report)
    if report.warnings:
        yield from _folded(
            units.counted(len(report.warnings), "warning"),
            [
                markdown_escaped(
                    f"- **{one.name}**: {one.sentence}.{f' Fix: {one.fix}.' if one.fix else ''}"
                )
                for one in report.warnings
            ],
        )
    yield from _folded(
        "How it was measured",
        [f"- {name}: {markdown_escaped(value)}" for name, value in report.facts.items()],
    )
    if with_detail:
        for section in report.sections:
            lines = [f"`{line}`" for line in section.lines]
            lines += [line for table in section.tables for line in table_lines(table)]
            yield from _folded(section.title, lines)


def _claims(report: Report) -> Iterator[str]:
    """Of an experiment that reproduces a paper: how often each judgement was made, and the table of
    them."""
    for section in report.sections:
        for table in section.tables:
            if table.name == CLAIMS:
                yield from ("", f"claims of the paper: {markdown_escaped(section.lines[0])}")
                yield from _folded(table.title, list(table_lines(table)))


def _verdicts(cells: Sequence[TidyRow]) -> str:
    """``✅ valid: 3 of 4 cells · ❌ invalid: 1``."""
    counts = {word: sum(cell["verdict"] == word for cell in cells) for word in _SIGNS}
    said = [f"{_SIGNS[word]}: {number}" for word, number in counts.items() if number]
    without = len(cells) - sum(counts.values())
    if without:
        said.append(f"no number: {without}")
    return f"{units.counted(len(cells), 'cell')}: {' · '.join(said)}"


def _shared_reason(cells: Sequence[TidyRow]) -> str:
    """The reason of the verdict that all of several cells have; empty where they differ."""
    both = {(word_in(cell, "verdict"), word_in(cell, "verdict_reason")) for cell in cells}
    return both.pop()[1] if len(cells) > 1 and len(both) == 1 else ""


def _cells(
    cells: Sequence[TidyRow], runs: Sequence[TidyRow], *, has_reasons: bool
) -> Iterator[str]:
    failed: dict[tuple[str, str], int] = {}
    for run in runs:
        lost = (whole_in(run, "failed") or 0) + (whole_in(run, "unknown") or 0)
        key = word_in(run, "cell"), word_in(run, "machine")
        failed[key] = failed.get(key, 0) + lost
    parameters = dict.fromkeys(
        name for cell in cells for name in cell if name.startswith("parameter_")
    )
    varied = [name for name in parameters if len({cell.get(name) for cell in cells}) > 1]
    varied += [name for name in SHOWN_IF_VARIED if len({cell[name] for cell in cells}) > 1]
    shown = [*_FACTORS, *varied]
    yield from table_forms.markdown_lines(
        [*(name.removeprefix("parameter_") for name in shown), *_TITLES],
        _rows(cells[:_MOST_CELLS], shown, failed, has_reasons=has_reasons),
        [*(False for _ in shown), *(True for _ in _TITLES[:-1]), False],
    )
    if len(cells) > _MOST_CELLS:
        yield from ("", f"and {len(cells) - _MOST_CELLS} more cells: see the full report")


def _rows(
    cells: Sequence[TidyRow],
    shown: Sequence[str],
    failed: Mapping[tuple[str, str], int],
    *,
    has_reasons: bool,
) -> Iterator[list[str]]:
    """``failed``: how many transactions, by cell and machine."""
    for cell in cells:
        levels = ["" if cell.get(name) is None else str(cell[name]) for name in shown]
        numbers = _numbers(
            cell,
            failed.get((word_in(cell, "cell"), word_in(cell, "machine")), 0),
            has_reason=has_reasons,
        )
        yield [*levels, *numbers]


_TITLES = (
    "tx/s",
    "lowest to highest",
    "time, s",
    "p50, ms",
    "p99, ms",
    "failed or unknown",
    "verdict",
)


def _numbers(cell: TidyRow, failed: int, *, has_reason: bool) -> list[str]:
    rate, low, high = (number_in(cell, f"throughput{at}_per_s") for at in ("", "_min", "_max"))
    around = ""
    if rate and low is not None and high is not None and (whole_in(cell, "measured") or 0) > 1:
        around = f"{units.digits(low)} to {units.digits(high)}"
    why = word_in(cell, "verdict_reason")
    sign = _SIGNS.get(word_in(cell, "verdict"), "no number")
    return [
        "" if rate is None else units.digits(rate),
        around,
        _time(number_in(cell, "elapsed_ns") if cell["duration_s"] is None else None, "s"),
        _latency(cell, "p50"),
        _latency(cell, "p99"),
        str(failed),
        judged_in_words(sign, why if has_reason else ""),
    ]


def _latency(cell: TidyRow, name: str) -> str:
    value_ns = number_in(cell, f"latency_{name}_ns")
    return NOT_REACHED if value_ns is None and cell["latency_unanswered"] else _time(value_ns, "ms")


def _time(value_ns: float | None, unit: str) -> str:
    return "" if value_ns is None else units.time(value_ns, unit)


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{markdown_escaped(title)}</summary>", "")
    yield from lines
    yield from ("", "</details>")
