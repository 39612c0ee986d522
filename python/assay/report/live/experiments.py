"""Takes the experiments of a record; returns the page that lists them, on which two are chosen for
a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from assay.record.progress.under_way import ListedExperiment
from assay.report.live.page import document
from assay.report.page.links import escaped
from assay.text import units
from assay.text.visible import visible


def experiments_page(experiments: Sequence[ListedExperiment], token: str) -> str:
    rows = "".join(_row(one, token, place) for place, one in enumerate(experiments))
    headings = "".join(
        f'<th scope="col">{name}</th>' for name in ("A", "B", "experiment", "begun", "runs")
    )
    button = '<p><button type="submit">Compare A and B</button></p>' if len(experiments) > 1 else ""
    return document(
        "Experiments",
        f'<body><header><h1>Experiments</h1></header>\n<main id="main">'
        f'<p><a href="./?token={escaped(token)}">The live page</a></p>'
        f'<form action="compare" method="get">'
        f'<input type="hidden" name="token" value="{escaped(token)}">'
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
        f'<th scope="row"><a href="report/{experiment.id}?token={escaped(token)}">{experiment.id}: '
        f'{escaped(title)}</a></th><td data-label="begun">{begun}</td>'
        f"<td>{units.ended_runs(experiment.ended, experiment.planned)}</td></tr>"
    )


def _choice(side: str, number: int, *, is_chosen: bool) -> str:
    checked = " checked" if is_chosen else ""
    label = f"experiment {number} as {side.upper()}"
    return (
        f'<td data-label="{side.upper()}"><input type="radio" name="{side}" value="{number}" '
        f'required aria-label="{label}"{checked}></td>'
    )
