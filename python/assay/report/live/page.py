"""Returns the live page: one HTML document that asks its own server, and no other, for what it
shows. It looks as the page of a report does."""

from __future__ import annotations

from importlib.resources import files

from assay.report.page.links import escaped


def page(record: str, vega: str, nonce: str) -> str:
    """``vega``: the address of the program that draws charts; ``nonce``: of this answer, by which
    the browser knows the page's own scripts."""
    script = own_script("charts.js") + own_script("live.js")
    body = _BODY.replace("VEGA", escaped(vega)).replace("RECORD", escaped(record))
    return document("assay watch", f'{body}<script nonce="{nonce}">{script}</script>\n')


def document(title: str, body: str) -> str:
    """A page in the look of a report."""
    style = _own("page", "style.css") + _own("live", "live.css")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>\n{body}</body></html>\n"
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
