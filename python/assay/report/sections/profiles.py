"""Takes an experiment's record; returns the table of the profiles of settings that it used, with
what stands for each setting that a paper printed."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from assay.contracts.recorded import Document
from assay.record import ExperimentRecord
from assay.report import columns
from assay.report.columns import words
from assay.report.values import ReportTable


def table(experiment: ExperimentRecord) -> ReportTable | None:
    """None where none was used."""
    used = experiment.experiment.get("profiles", ())
    if not used:
        return None
    return columns.table(
        "profiles",
        "Profiles of settings",
        (
            words("profile", itemgetter(0), is_label=True),
            words("printed", itemgetter(1), is_label=True),
            words("here", itemgetter(2)),
        ),
        (row for profile in used for row in _rows(profile)),
        notes=("all settings that a system was given stand in the column settings asked",),
    )


def _rows(profile: Document) -> Iterator[tuple[str, str, str]]:
    name = f"{profile['system']} {profile['name']}"
    yield name, "", profile["title"]
    # Records from before November 2026 have the earlier name.
    for printed, here in (profile.get("printed") or profile.get("became") or {}).items():
        yield name, printed, here
