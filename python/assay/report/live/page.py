"""Returns the pages of a live server, HTML documents that ask it, and no other, for what they
show: the experiment under way, those of the record, and the one on which an experiment is put
together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.resources import files
from typing import NamedTuple

from assay.record.under_way import ListedExperiment
from assay.report.for_people import html_escaped
from assay.text import units
from assay.text.terminal import visible


def live_page(record: str, vega: str, nonce: str) -> str:
    """``vega``: the address of the program that draws charts; ``nonce``: of this answer, by which
    the browser knows the page's own scripts."""
    script = own_script("charts.js") + own_script("live.js")
    body = _BODY.replace("VEGA", html_escaped(vega)).replace("RECORD", html_escaped(record))
    return document("assay watch", f'{body}<script nonce="{nonce}">{script}</script>\n')


def document(title: str, body: str) -> str:
    """A page in the look of a report."""
    style = _own("page", "style.css") + _own("live", "live.css")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{html_escaped(title)}</title><style>{style}</style></head>\n{body}</body></html>\n"
    )


def own_script(file: str) -> str:
    return _own("live", file)


def _own(folder: str, file: str) -> str:
    return (files(f"assay.report.{folder}") / file).read_text(encoding="utf-8")


_BODY = """<body>
<a class="skip" href="#main">Skip to the numbers</a>
<header><h1 id="title">assay watch</h1>
<p id="state" class="state" role="status">connecting …</p></header>
<main id="main">
<section id="plan" hidden aria-label="Plan">
<div id="bar" class="bar" role="progressbar" aria-valuemin="0"
 aria-label="runs that have ended"></div>
<p class="with-button"><b id="progress"></b> <span id="verdicts" class="quiet"></span>
<span id="left"></span>
<button type="button" id="stop" hidden>Stop the experiment</button></p>
</section>
<p id="answer" class="answer" hidden></p>
<details id="warned" class="warnings" hidden><summary id="warned-names"></summary>
<ul id="warnings"></ul></details>
<section id="now" hidden>
<h2 id="run"></h2>
<p class="with-button"><span id="step" class="quiet"></span>
<button type="button" id="stop-run" hidden>Stop this run</button></p>
<dl id="numbers" class="numbers"></dl>
<p id="fewer" hidden></p>
<p id="machine" class="quiet"></p>
<div id="charts" class="figures" data-vega="VEGA"></div>
<div id="fleet" class="box" hidden><table class="cards"><caption id="fleet-name"></caption>
<thead><tr><th scope="col">machine</th><th scope="col" class="n">clients</th>
<th scope="col" class="n">ok</th><th scope="col" class="n">unknown</th>
<th scope="col" class="n">TPS</th><th scope="col" class="n">busy</th>
<th scope="col" class="n">load</th><th scope="col" class="n">lag, p99</th>
<th scope="col">lost</th></tr></thead>
<tbody id="generators"></tbody></table></div>
</section>
<section id="ended" hidden><h2>Cells</h2>
<div class="box"><table class="cards"><thead><tr><th scope="col">cell</th>
<th scope="col" class="n">runs</th><th scope="col" class="n">TPS</th>
<th scope="col" class="n">p99</th>
<th scope="col">verdict</th></tr></thead><tbody id="cells"></tbody></table></div>
<p id="more" class="quiet"></p></section>
</main>
<footer>Record: <code>RECORD</code>. <span id="links"></span></footer>
<noscript><p>This page needs scripts; <code>assay report</code> shows the same
without.</p></noscript>
"""


def experiments_page(experiments: Sequence[ListedExperiment], token: str) -> str:
    rows = "".join(_row(one, token, place) for place, one in enumerate(experiments))
    headings = "".join(
        f'<th scope="col">{name}</th>' for name in ("A", "B", "experiment", "begun", "runs")
    )
    button = '<p><button type="submit">Compare A and B</button></p>' if len(experiments) > 1 else ""
    return document(
        "Experiments",
        f'<body><header><h1>Experiments</h1></header>\n<main id="main">'
        f'<p><a href="./?token={html_escaped(token)}">The live page</a></p>'
        f'<form action="compare" method="get">'
        f'<input type="hidden" name="token" value="{html_escaped(token)}">'
        f'<div class="box"><table class="cards"><thead><tr>{headings}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{button}</form></main>\n",
    )


def _row(experiment: ListedExperiment, token: str, place: int) -> str:
    """The newest is B, the one before it A, until others are chosen."""
    begun = datetime.fromtimestamp(experiment.begun_unix_ns / 1e9).strftime("%Y-%m-%d %H:%M")
    title = visible(experiment.title) or f"experiment {experiment.id}"
    return (
        f"<tr>{_choice('a', experiment.id, is_chosen=place == 1)}"
        f"{_choice('b', experiment.id, is_chosen=place == 0)}"
        f'<th scope="row"><a href="report/{experiment.id}?token={html_escaped(token)}">'
        f"{experiment.id}: "
        f'{html_escaped(title)}</a></th><td data-label="begun">{begun}</td>'
        f"<td>{units.ended_runs(experiment.ended, experiment.planned)}</td></tr>"
    )


def _choice(side: str, number: int, *, is_chosen: bool) -> str:
    checked = " checked" if is_chosen else ""
    label = f"experiment {number} as {side.upper()}"
    return (
        f'<td data-label="{side.upper()}"><input type="radio" name="{side}" value="{number}" '
        f'required aria-label="{label}"{checked}></td>'
    )


class Suggestion(NamedTuple):
    name: str
    says: str


def new_page(
    default_system: str,
    systems: Iterable[Suggestion],
    tests: Iterable[Suggestion],
    storages: Iterable[Suggestion],
    nonce: str,
) -> str:
    fields = "".join(
        (
            _field("on", "Database", default_system, "several: with commas", systems),
            _field("test", "Test", "", "a workload, or WORKLOAD.TEST", tests, is_required=True),
            _field(
                "size", "Size", "", "of the data: the workload's first parameter; empty: its own"
            ),
            _field(
                "storage",
                "Storage",
                "here",
                "several: with commas; a directory: here:/mnt/ssd",
                storages,
            ),
            _field(
                "clients", "Clients", "", "at the same time; several: 1,8,32; empty: the test's own"
            ),
        )
    )
    return document(
        "New experiment",
        '<body><header><h1>New experiment</h1></header>\n<main id="main">'
        f'<p><a id="back" href="./">The live page</a></p><form id="new" class="form">{fields}'
        '<p><button type="submit">See the plan and its estimate</button></p></form>'
        '<p id="said" class="quiet" role="status"></p>'
        '<pre id="plan-text" tabindex="0" aria-label="plan" hidden></pre>'
        '<p><button type="button" id="start" hidden>Run it</button></p></main>\n'
        f'<script nonce="{nonce}">{own_script("new.js")}</script>\n',
    )


def _field(
    name: str,
    label: str,
    value: str,
    note: str,
    choices: Iterable[Suggestion] = (),
    *,
    is_required: bool = False,
) -> str:
    options = "".join(
        f'<option value="{html_escaped(one.name)}">{html_escaped(one.says)}</option>'
        for one in choices
    )
    listed = f'<datalist id="{name}-choices">{options}</datalist>' if options else ""
    of_list = f' list="{name}-choices"' if options else ""
    required = " required" if is_required else ""
    return (
        f'<div class="field"><label for="{name}">{label}</label>'
        f'<input id="{name}" name="{name}" value="{html_escaped(value)}"{of_list}{required} '
        f'aria-describedby="{name}-note" autocomplete="off" spellcheck="false">'
        f'<small id="{name}-note">{html_escaped(note)}</small>{listed}</div>'
    )
