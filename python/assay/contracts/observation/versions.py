"""Takes the plain data of what a step observed, of any version; returns them typed, or as
plain data of the newest version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.contracts.observation.observation import VERSION, Observation
from assay.contracts.observation.shape import ShapeError, read
from assay.contracts.observation.step_report import StepReport, UnreadReport
from assay.contracts.observation.version_1 import of_version_1
from assay.contracts.observation.version_2 import of_version_2

Document = dict[str, Any]
Observed = Observation | StepReport
"""What a step may report: of the clients that it drove, or of what it did in their place."""

_OLDER: Mapping[int, Callable[[Mapping[str, Any]], Document]] = {1: of_version_1, 2: of_version_2}
"""Each gives the plain data of the next version."""


def read_observation(document: Mapping[str, Any], name: str = "observation") -> Observation:
    """The typed value of an observation of any version. Raises `ShapeError` where a key is missing,
    is of another type, or is not known."""
    return read(Observation, newest(document, name), name)


def read_observed(
    document: Any, types: Mapping[str, type[StepReport]], name: str = "observation"
) -> Observed:
    """The same of any step's report. ``types``: by their kinds; a report of another kind, or not of
    the shape that a package's type has now, is given as it is kept."""
    if not isinstance(document, Mapping):
        raise ShapeError(f"{name}: expected an object, got {type(document).__name__}")
    kind = document.get("kind")
    if not isinstance(kind, str):
        return read_observation(document, name)
    if (shape := types.get(kind)) is None:
        return UnreadReport(
            dict(document),
            f"no package that is installed, and can be used, has the kind {kind!r}",
        )
    try:
        return read(shape, document, name)
    except ShapeError as error:
        if shape.__module__.partition(".")[0] == __name__.partition(".")[0]:
            raise
        return UnreadReport(
            dict(document), f"the package of {kind!r} expects it otherwise ({error})"
        )


def newest(document: Mapping[str, Any], name: str = "observation") -> Document:
    """An observation as plain data of the newest version. Other documents, such as what an update
    reports, are left as they are."""
    version = document.get("version", 1)
    if version == VERSION or "outcomes" not in document:
        return dict(document)
    if version not in _OLDER:
        raise ShapeError(
            f"{name}.version: expected {VERSION} or less, found {version}: "
            "it was made by a newer Assay"
        )
    made = dict(document)
    for number in range(version, VERSION):
        try:
            made = _OLDER[number](made)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ShapeError(f"{name}: not of the shape of version {number} ({error!r})") from None
    return {**made, "version": VERSION}
