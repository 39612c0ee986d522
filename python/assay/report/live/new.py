"""Takes what can be chosen on this machine; returns the page on which an experiment is put
together, its estimate seen, and started."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from assay.report.live.page import document, own_script
from assay.report.page.links import escaped


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
                "clients",
                "Users",
                "",
                "clients at the same time; several: 1,8,32; empty: the test's own",
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
        f'<option value="{escaped(one.name)}">{escaped(one.says)}</option>' for one in choices
    )
    listed = f'<datalist id="{name}-choices">{options}</datalist>' if options else ""
    of_list = f' list="{name}-choices"' if options else ""
    required = " required" if is_required else ""
    return (
        f'<div class="field"><label for="{name}">{label}</label>'
        f'<input id="{name}" name="{name}" value="{escaped(value)}"{of_list}{required} '
        f'aria-describedby="{name}-note" autocomplete="off" spellcheck="false">'
        f'<small id="{name}-note">{escaped(note)}</small>{listed}</div>'
    )
