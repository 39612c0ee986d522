"""What reports of golden records show is kept whole, and compared byte for byte; ``pytest
--keep-outputs`` on this file writes it anew."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import golden_record
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.forms import github_summary, table
from assay.report.summaries import first_look

KEPT = Path(__file__).parents[2] / "data" / "reports.txt"
_HEAD = re.compile(r"^===== (.*)\n", re.M)
FORMS = {
    "everything.txt": ("everything", table, 150),
    "a_paper.txt": ("of_a_paper", table, 80),
    "a_quick_test.txt": ("of_a_quick_test", table, 80),
    "one_run.github.md": ("one_run", github_summary, 80),
}
FIRST_LOOKS = {"everything.first.txt": "everything", "one_run.first.txt": "one_run"}


def _kept() -> dict[str, str]:
    """By name, of the parts of the file."""
    _, *parts = _HEAD.split(KEPT.read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _first_look(record: ExperimentRecord) -> str:
    return "\n".join(
        [*first_look.lines(record, build(record, is_brief=True), 100, "assay report"), ""]
    )


@pytest.mark.parametrize("name", [*FORMS, *FIRST_LOOKS])
def test_a_report_is_what_was_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if name in FIRST_LOOKS:
        now = _first_look(getattr(golden_record, FIRST_LOOKS[name])(tmp_path / "r.sqlite"))
    else:
        made, form, width = FORMS[name]
        monkeypatch.setenv("COLUMNS", str(width))
        stream = io.StringIO()
        record = getattr(golden_record, made)(tmp_path / "r.sqlite")
        form.render(build(record), stream, detail=True if made == "everything" else None)
        now = stream.getvalue()
        if made == "of_a_paper":  # what follows is in the others
            now = now.partition("Transaction outcomes")[0]
    kept = _kept()
    if request.config.getoption("--keep-outputs"):
        kept[name] = now
        parts = (f"===== {one}\n{kept[one]}" for one in (*FORMS, *FIRST_LOOKS))
        KEPT.write_text("".join(parts), "utf-8")
    assert now == kept[name]
