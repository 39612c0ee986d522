"""Takes an experiment's record; returns the table of the profiles of settings that it used, with
what stands for each setting that a paper printed."""

from __future__ import annotations

from collections.abc import Iterator

from assay.contracts.recorded import ProfileDocument
from assay.record import ExperimentRecord
from assay.report.values import ReportColumn, ReportTable, Row, text


def table(experiment: ExperimentRecord) -> ReportTable | None:
    """None where none was used."""
    used = experiment.experiment.get("profiles", ())
    if not used:
        return None
    return ReportTable(
        name="profiles",
        title="Profiles of settings",
        columns=(ReportColumn("profile"), ReportColumn("printed"), ReportColumn("here")),
        rows=tuple(row for profile in used for row in _rows(profile)),
        notes=("all settings that a system was given stand in the column settings asked",),
        label_columns=2,
    )


def _rows(profile: ProfileDocument) -> Iterator[Row]:
    name = text(f"{profile['system']} {profile['name']}")
    yield Row((name, text(""), text(profile["title"])))
    # Records from before November 2026 have the earlier name.
    for printed, here in (profile.get("printed") or profile.get("became") or {}).items():
        yield Row((name, text(printed), text(here)))
