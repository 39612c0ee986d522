"""Takes what is known of each capsule of a folder; returns the page that lists them: a table that
can be filtered and sorted in the browser, with the report of each, its file, and the command that
runs it again. The page asks no other site for anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from assay.record.machine import machines
from assay.record.metrics import catalogue
from assay.report.gallery.facts import CellFacts, Facts, outcomes
from assay.report.page.links import escaped
from assay.text import units
from assay.workload import ad_hoc_script


class ListedCapsule(Struct, frozen=True):
    """A capsule on the site; the names are those of its files beside the page."""

    facts: Facts
    report: str
    capsule: str
    size_bytes: int
    sha256: str


_MOST_TESTS = 3


def _workload(facts: Facts) -> str:
    """With the tests that were run, as several are in one workload."""
    own = [one for one in facts.tests if one not in (facts.workload, ad_hoc_script.TEST)]
    more = [f"{len(own) - _MOST_TESTS} more"] if len(own) > _MOST_TESTS else []
    tests = ", ".join([*own[:_MOST_TESTS], *more])
    return f"{facts.workload}: {tests}" if tests else facts.workload


def _systems(facts: Facts) -> str:
    return ", ".join(f"{one.system} ({one.version})" for one in facts.systems)


def _storages(facts: Facts) -> str:
    return ", ".join(one.storage for one in facts.storages)


def _machine(facts: Facts) -> str:
    return machines.short_name(facts.machine)


def _date(facts: Facts) -> str:
    """By UTC, as readers are anywhere."""
    return datetime.fromtimestamp(facts.begun_unix_ns / 1e9, UTC).strftime("%Y-%m-%d")


def _main_number(facts: Facts) -> str:
    """The best of its cells, by the metric of the first one."""
    best = _best(facts.cells)
    if best is None or best.number is None:
        return "none"
    number = best.number
    shown = units.shown(number.median, number.unit)
    where = f" ({best.system_label}, {best.storage})" if len(facts.cells) > 1 else ""
    return f"{number.metric} {shown}{where}"


def _best(cells: Sequence[CellFacts]) -> CellFacts | None:
    measured = [one for one in cells if one.number is not None and one.verdict != "invalid"]
    if not measured or measured[0].number is None:
        return None
    metric = measured[0].number.metric
    alike = [one for one in measured if one.number and one.number.metric == metric]
    known = catalogue.METRICS.get(metric)
    choose = max if known is not None and known.is_more_better else min
    return choose(alike, key=lambda cell: cell.number.median if cell.number else 0)


def _verdict(facts: Facts) -> str:
    """Of its claims; without any, of its cells."""
    of_claims = outcomes(facts.claims)
    of_cells = Counter(cell.verdict or "not measured" for cell in facts.cells)
    what, counts = ("claims", of_claims) if of_claims else ("cells", of_cells)
    return f"{what}: " + ", ".join(f"{number} {word}" for word, number in counts.items())


_COLUMNS: Final[Mapping[str, Callable[[Facts], str]]] = {
    "workload": _workload,
    "systems": _systems,
    "storage": _storages,
    "machine": _machine,
    "date": _date,
    "main number": _main_number,
    "verdict": _verdict,
}
"""Behind the title of each experiment."""
_FILTERS: Final[Mapping[str, Callable[[Facts], Iterable[str]]]] = {
    "workload": lambda facts: [facts.workload],
    "system": lambda facts: [one.system.partition(" ")[0] for one in facts.systems],
    "storage": lambda facts: [one.storage for one in facts.storages],
    "machine": lambda facts: [_machine(facts)],
}
"""Of which a reader chooses one."""


def page(title: str, entries: Sequence[ListedCapsule]) -> str:
    style, script = _own("report.page", "style.css"), _own("report.page", "script.js")
    filters = "".join(_filter(name, of, entries) for name, of in _FILTERS.items())
    headings = "".join(
        f'<th scope="col">{name}</th>' for name in ("experiment", *_COLUMNS, "again")
    )
    rows = "".join(map(_row, entries))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escaped(title)}</title><style>{style}{_own('report.gallery', 'gallery.css')}"
        f"</style></head>\n<body>\n<header><h1>{escaped(title)}</h1></header>\n<main>\n"
        "<p>Each result is a file that you can run again: <code>assay rerun FILE</code> verifies "
        "it, does the experiment on your machine and compares both.</p>\n"
        f'<form class="filters" role="search"><label>Search <input type="search" id="search">'
        f"</label>{filters}</form>\n"
        f'<p id="shown" aria-live="polite">{units.counted(len(entries), "result")}</p>\n'
        f'<div class="box"><table class="sortable cards"><thead><tr>{headings}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n</main>\n"
        f"<script>{script}{_own('report.gallery', 'gallery.js')}</script>\n</body></html>\n"
    )


def _own(folder: str, file: str) -> str:
    return (files(f"assay.{folder}") / file).read_text(encoding="utf-8")


def _filter(
    name: str, values_of: Callable[[Facts], Iterable[str]], entries: Sequence[ListedCapsule]
) -> str:
    values = sorted({value for one in entries for value in values_of(one.facts)})
    options = "".join(f"<option>{escaped(value)}</option>" for value in values)
    return (
        f'<label>{name} <select data-filter="{name}"><option value="">any</option>{options}'
        "</select></label>"
    )


def _row(entry: ListedCapsule) -> str:
    facts = entry.facts
    title = facts.title or facts.workload_title or facts.workload
    version = " (quick version)" if facts.is_quick and "quick" not in title else ""
    chosen = "".join(
        f' data-of-{name}="{escaped(chr(10).join(values_of(facts)))}"'
        for name, values_of in _FILTERS.items()
    )
    cells = "".join(
        f'<td data-label="{name}">{escaped(of(facts))}</td>' for name, of in _COLUMNS.items()
    )
    command = f"assay rerun {entry.capsule}"
    return (
        f'<tr{chosen}><th scope="row"><a href="{quote(entry.report)}">{escaped(title)}</a>'
        f"{version}</th>{cells}"
        f'<td class="again" data-label="again"><a href="{quote(entry.capsule)}" download>capsule'
        "</a>, "
        f"{units.size(entry.size_bytes)}<br><code>{escaped(command)}</code>"
        f"<details><summary>SHA-256</summary><code>{entry.sha256}</code></details></td></tr>\n"
    )
