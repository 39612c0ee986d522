"""Takes records; gives tables and text. Pure: reads nothing but what it is given.

`assay.report.build` makes one neutral `Report` of an experiment's records; a form (`table`,
`markdown`, `csv`, `json`, or a stranger's entry point) is a function
``render(report, stream, *, detail=None)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay import toml_file
from assay.record import RunRecord
from assay.record.records import WarningRecord
from assay.registry import WORKLOAD_FILE
from assay.report import declaration, published, verdict, warnings
from assay.report.verdict import Verdict
from assay.workloads.answers import PUBLISHED_FILE
from assay.workloads.reader import report_sections
from assay.workloads.values import Workload


def check_declarations(workload: Workload) -> None:
    """Reads what the workload declares of its reports and holds of published values, so that a
    mistake is told, with its line, before a run and not after it."""
    top = toml_file.read(workload.folder / WORKLOAD_FILE)
    for test, section in report_sections(top, workload.tests).items():
        declaration.read(section, test)
    if (file := workload.folder / PUBLISHED_FILE).is_file():
        top = toml_file.read(file)
        for test in top.names():
            published.read(top.section(test))


def judge_run(run: RunRecord, machine: Mapping[str, Any]) -> tuple[Verdict, list[WarningRecord]]:
    """Verdict and warnings of one run by itself, as they are kept with it."""
    return verdict.of_run(run, machine), warnings.of_run(run, machine)
