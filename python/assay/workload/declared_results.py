"""Takes what a workload file says of results: ``headline`` and ``response_limits`` of a test,
``[derived.NAME]`` and ``[[sheets]]``; returns the rates, limits, metrics and tables that
reports show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.recorded import SheetRecord
from assay.errors import ExperimentError
from assay.text import paths, pattern
from assay.text.keys import TEXT, in_file
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.derived_metrics import INPUTS, DerivedMetric
from assay.workload.parameters import Scalar
from assay.workload.values import Script, Test

if TYPE_CHECKING:
    from markdown_it.token import Token


def refuse_results_of_others(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` where a transaction type is named that the test does not run."""
    named = {
        "headline": test.headline.transactions if test.headline else (),
        "response_limits": [limit.transaction for limit in test.response_limits],
    }
    for key, names in named.items():
        for name in names:
            if name not in test.named_scripts:
                hint = did_you_mean(name, test.named_scripts)
                raise section.error(f"the test does not run {name!r}", key, hint=hint)


def derived_metrics(
    section: TomlTable,
    tests: Mapping[str, Test],
    scripts: Mapping[str, Script],
    constants: Mapping[str, Scalar],
) -> dict[str, DerivedMetric]:
    """By name. ``constants``: parameters at their defaults, and constants. Raises `ExperimentError`
    with the line."""
    found: dict[str, DerivedMetric] = {}
    for name in section.names():
        one = section.section(name)
        if name in constants or name in INPUTS:
            raise section.error(f"{name} is the name of something else that formulas use", name)
        found[name] = metric = _metric(one, name, tests, scripts)
        known = dict.fromkeys(INPUTS, 1.0) if metric.test else dict.fromkeys(found, 1.0)
        if not metric.test:
            del known[name]
        _check(one, metric, {**constants, **known})
    return found


def _metric(
    section: TomlTable, name: str, tests: Mapping[str, Test], scripts: Mapping[str, Script]
) -> DerivedMetric:
    metric: DerivedMetric = section.thing(DerivedMetric, tests, scripts, name=name)
    if metric.test and "scripts" not in section:
        metric = replace(metric, scripts=tests[metric.test].scripts)
    for number, script in enumerate(metric.scripts):
        if script not in _run_by(tests[metric.test]):
            hint = did_you_mean(script, _run_by(tests[metric.test]))
            raise section.error(f"the test does not run {script!r}", "scripts", number, hint=hint)
    return metric


def _run_by(test: Test) -> list[str]:
    return list(dict.fromkeys(_names(test)))


def _names(test: Test) -> Iterator[str]:
    yield from test.scripts
    for drive in test.drives:
        yield from drive.scripts
        for group in drive.groups:
            yield from group.scripts


def _check(section: TomlTable, metric: DerivedMetric, known: Mapping[str, Scalar]) -> None:
    """Raises `ExperimentError` for a formula that is none with these values."""
    unknown = [name for name in metric.variables if name not in known]
    if unknown:
        raise section.error(
            f"value: nothing is called {unknown[0]!r}",
            "value",
            hint=did_you_mean(unknown[0], known),
        )
    try:
        is_other = metric.is_text_or_condition(known, section.file)
    except ExperimentError as error:
        raise section.error(error.message, "value", hint=error.hint) from error
    if is_other:
        raise section.error("value: expected an expression that is a number", "value")


class Sheet(Struct, frozen=True):
    """A table of a file that reports show as it stands."""

    title: Annotated[str, in_file(
        TEXT, "The heading in the file; the table is the first one below it."
    )]  # fmt: skip
    file: Annotated[str, in_file(TEXT, "A Markdown file in the folder.")]


_BETWEEN_CELLS = pattern(r"(?<!\\)\|")


def sheets(sections: list[TomlTable], folder: Path) -> tuple[SheetRecord, ...]:
    """Raises `ExperimentError` with the line."""
    return tuple(_sheet(section, folder) for section in sections)


def _sheet(section: TomlTable, folder: Path) -> SheetRecord:
    said: Sheet = section.thing(Sheet)
    title, name = said.title, said.file
    file = folder / name
    if ".." in file.parts[len(folder.parts) :] or Path(name).is_absolute() or not file.is_file():
        raise section.error(f"there is no file {name!r} in the workload's folder", "file")
    text = paths.read_text(file, ExperimentError)
    tokens = _tokens(text)
    if title not in (_heading(tokens, at) for at in range(len(tokens))):
        raise section.error(
            f"{name} has no heading {title!r}", "title", hint=f"write ## {title} above the table"
        )
    rows = _first_table(tokens, title)
    if len(rows) < 2:
        raise section.error(
            f"there is no table below {title!r} in {name}", "title",
            hint="write a line of headings, the rule below it, and a line for each row",
        )  # fmt: skip
    columns, lines = rows[0], text.splitlines()
    for row in rows:
        # Markdown itself fills a short row, and cuts a long one.
        assert row[0].map is not None
        written = lines[row[0].map[0]].strip().removeprefix("|")
        cells = _BETWEEN_CELLS.split(re.sub(r"(?<!\\)\|$", "", written))
        if len(cells) != len(columns) - 1:
            raise section.error(
                f"the row {cells[0].strip()!r} in {name} has {len(cells)} cells: "
                f"expected {len(columns) - 1}",
                "file",
            )
    shown = [[_plain(cell) for cell in row[1:]] for row in rows]
    return {"title": title, "columns": shown[0], "rows": shown[1:]}


@lru_cache(maxsize=8)
def _tokens(text: str) -> Sequence[Token]:
    """What is in a fence of code or in a comment is neither a heading nor a table. Who has a
    workload checked while it is written has its page read again and again."""
    from markdown_it import MarkdownIt  # most workloads have no sheet, and start sooner without it

    return MarkdownIt("commonmark").enable("table").parse(text)


def _heading(tokens: Sequence[Token], at: int) -> str | None:
    return _plain(tokens[at + 1]) if tokens[at].type == "heading_open" else None


def _first_table(tokens: Sequence[Token], title: str) -> list[list[Token]]:
    """Its rows, each the token that opens it and those of its cells; none where there is no table
    before the next heading."""
    places = dropwhile(lambda at: _heading(tokens, at) != title, range(len(tokens)))
    next(places)
    own = [tokens[at] for at in takewhile(lambda at: _heading(tokens, at) is None, places)]
    table = [*dropwhile(lambda token: token.type != "table_open", own)]
    above = own[: len(own) - len(table)]
    if any(one.type == "inline" and one.content.startswith("|") for one in above):
        return []  # meant as the table, and none: a later one is not what was asked for
    rows: list[list[Token]] = []
    is_cell = False
    for token in takewhile(lambda token: token.type != "table_close", table):
        if token.type == "tr_open":
            rows.append([token])
        elif token.type == "inline" and is_cell:
            rows[-1].append(token)
        is_cell = token.type in ("th_open", "td_open")
    return rows


def _plain(inline: Token) -> str:
    """Without the marks of code and emphasis, and without the targets of links."""
    return "".join(part.content for part in inline.children or () if part.type != "html_inline")
