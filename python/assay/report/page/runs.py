"""Takes the runs of a report; returns a part of the page for each: facts, settings, scripts, and
its raw rows.

What many runs share (settings, scripts) stands once, and raw rows stop at a limit, so that the page
of hundreds of runs stays small.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping, Sequence

from assay.report.page.links import escaped
from assay.report.run_details import RunDetail
from assay.report.values import TidyRow, TidyValue, whole_in
from assay.text import csv_lines, units

MOST_RAW_BYTES = 5_000_000
"""Of all raw rows together."""
_OF_A_RUN = (
    "transactions", "groups", "values", "steps", "errors", "checks", "statements", "intervals",
)  # fmt: skip
"""Tables of the tidy output with rows of a run; the largest come last."""

Rows = Sequence[TidyRow]


class _Shared:
    """Texts that stand once in the page, each under a number."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: dict[str, int] = {}

    def link(self, text: str, shown: str) -> str:
        if not text:
            return ""
        number = self.numbers.setdefault(text, len(self.numbers) + 1)
        return f'<a href="#{self.name}-{number}">{shown}</a>'

    def parts(self, title: str) -> str:
        return "".join(
            f'<details id="{self.name}-{number}"><summary>{title} {number}</summary>'
            f"<pre>{escaped(text)}</pre></details>"
            for text, number in self.numbers.items()
        )


def runs_html(runs: Sequence[RunDetail], tables: Mapping[str, Rows], how_to_get: str) -> str:
    """``how_to_get``: the command that gives the raw rows which are left out."""
    raw = _RawRows(tables)
    settings, scripts = _Shared("settings"), _Shared("scripts")
    parts = []
    for cell, found in itertools.groupby(runs, key=lambda run: run.cell):
        of_cell = list(found)
        inner = "".join(_run(run, raw, settings, scripts) for run in of_cell)
        parts.append(
            f'<section id="cell-{cell}" class="cell"><h3>{escaped(of_cell[0].name)}</h3>'
            f"{inner}</section>"
        )
    left_out = (
        f"<p>{units.counted(raw.left_out, 'raw row')} left out, to keep this page small: "
        f"<code>{escaped(how_to_get)}</code> has all.</p>"
        if raw.left_out
        else ""
    )
    return (
        f'<section id="runs"><h2>Runs</h2>{left_out}{"".join(parts)}</section>'
        + _part("settings", "Settings in effect", settings.parts("Settings"))
        + _part("scripts", "Scripts", scripts.parts("Scripts"))
    )


def _part(name: str, title: str, inner: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>{inner}</section>' if inner else ""


def _run(run: RunDetail, raw: _RawRows, settings: _Shared, scripts: _Shared) -> str:
    facts = {name: escaped(text) for name, text in run.facts.items()}
    facts["settings in effect"] = settings.link(
        "\n".join(f"{name} = {value}" for name, value in run.settings.items()),
        units.counted(len(run.settings), "setting"),
    )
    facts["scripts"] = scripts.link(
        "\n\n".join(f"-- {name}\n{text.strip()}" for name, text in run.scripts),
        units.counted(len(run.scripts), "script"),
    )
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items() if value)
    return (
        f'<details id="run-{run.id}" class="run"><summary>Run {run.id}, repetition '
        f"{run.repetition}: {escaped(run.verdict)}</summary><dl>{listed}</dl>"
        f"{''.join(raw.of_run(run.id))}</details>"
    )


class _RawRows:
    """The tidy rows of each run, as CSV."""

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self._by_run = {name: _grouped(tables.get(name, ())) for name in _OF_A_RUN}
        self._numbers = {whole_in(row, "run"): row for row in tables.get("runs", ())}
        self._left_bytes = MOST_RAW_BYTES
        self.left_out = 0

    def of_run(self, run: int) -> Iterator[str]:
        numbers = self._numbers.get(run, {})
        shown = "\n".join(
            f"{name} = {_plain(value)}" for name, value in numbers.items() if value is not None
        )
        if shown:
            yield self._details("All numbers of the run", shown)
        for name, by_run in self._by_run.items():
            rows = by_run.get(run, ())
            if not rows:
                continue
            text = _csv(rows)
            if len(text) > self._left_bytes:
                self.left_out += len(rows)
                continue
            yield self._details(f"{name.capitalize()}: {units.counted(len(rows), 'row')}", text)

    def _details(self, title: str, text: str) -> str:
        self._left_bytes -= len(text)
        return f"<details><summary>{title}</summary><pre>{escaped(text)}</pre></details>"


def _grouped(rows: Rows) -> dict[int | None, Rows]:
    found: dict[int | None, list[TidyRow]] = {}
    for row in rows:
        found.setdefault(whole_in(row, "run"), []).append(row)
    return {**found}


def _csv(rows: Rows) -> str:
    """Without columns in which no row has anything."""
    names = [
        name for name in rows[0] if name != "run" and any(row[name] is not None for row in rows)
    ]
    stream = io.StringIO()
    csv_lines.write(stream, names, ([_plain(row[name]) for name in names] for row in rows))
    return stream.getvalue()


def _plain(value: TidyValue) -> object:
    if isinstance(value, list):
        return ";".join(map(str, value))
    return "" if value is None else value
