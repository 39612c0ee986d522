"""Each word of the summaries of kept runs is on the page *How to read a result*: of an embedded
system and of servers, of several cells, an open loop, a failed, an interrupted and a killed run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from glossary import ROOT

import golden_record
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.summaries import first_look
from shown_report import kept_record

PAGE = ROOT / "docs" / "guides" / "reading-a-result.md"
EXPERIMENTS = range(1, 14)
ELSEWHERE = (
    "verdict", "measured", "warning", "fix", "also", "warnings", "parameters", "storages",
    "record",
)  # fmt: skip
"""Labels of what has words of its own: of a warning, a test, a workload, a path."""
INVENTED = {"look", "sales"}
"""Words of the invented workload: a transaction type, and what its headline counts."""
LABEL = re.compile(r"\s*([^\s:]+(?: [^\s:]+)*?)(?:: |\s{2,})")


def test_each_word_of_a_summary_is_on_the_page(tmp_path: Path) -> None:
    with Store(kept_record(tmp_path / "kept.sqlite")) as store:
        kept = [store.experiment(number) for number in EXPERIMENTS]
    page = PAGE.read_text(encoding="utf-8").lower()
    for record in (*kept, golden_record.everything(tmp_path / "invented.sqlite")):
        found = {*words(first_look.lines(record, build(record, is_brief=True), 500, "more"))}
        assert {"verdict", "record"} <= found
        missing = {
            word for word in found - names(record) - INVENTED if not re.search(rf"\b{word}", page)
        }
        assert not missing, record.title


def words(lines: Iterable[str]) -> Iterator[str]:
    """Without those of warnings and of errors, which are longer than a page."""
    for line in lines:
        label = LABEL.match(line)
        is_elsewhere = label is not None and label[1] in ELSEWHERE
        shown = label[1] if label is not None and is_elsewhere else line.partition("first: ")[0]
        yield from re.findall(r"[a-z]{2,}", shown.lower())


def names(record: ExperimentRecord) -> set[str]:
    """Of its tests, scripts, systems and storages."""
    runs = [f"{one.full_test_name} {one.system_label} {one.storage}" for one in record.runs]
    return {*re.findall(r"[a-z]{2,}", " ".join([record.title, *runs]).lower())}
