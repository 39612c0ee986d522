"""What a step reports that drives no clients: the contract of its type, which registers its own
metrics and warnings and says why its run failed; and how a kept report of any step is read.

A type is found by the ``kind`` of its documents (`assay.registry.step_reports`), those of other
packages by an entry point of the group ``assay.step_reports``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import msgspec

from assay.contracts.metric import Metric
from assay.contracts.observation.observation import VERSION, Observation
from assay.contracts.observation.parts.shape import Shape, ShapeError, read
from assay.contracts.warning_text import WarningText

_LONGEST = 200
"""Characters of a value that is shown as it is kept."""


class StepTable(NamedTuple):
    """What a report shows of it."""

    title: str
    """Tables of one title are shown as one, with the run and the step of each row."""
    columns: tuple[str, ...]
    """Their titles."""
    rows: tuple[tuple[str | int | float | None, ...], ...]
    """Numbers are aligned to the right; None: there is no such value."""


class StepReport(Shape, frozen=True):
    """The base of the types, which are declared with ``tag_field="kind"`` and a ``tag`` of their
    own. Fields end in their units (``_ns``, ``_bytes``)."""

    metrics: ClassVar[tuple[Metric, ...]] = ()
    """Their ``value`` reads them from the report. Names of another package's begin with the kind
    and an underscore."""
    warning_texts: ClassVar[Mapping[str, WarningText]] = {}
    """Its own warnings, by name."""
    is_beside: ClassVar[bool] = False
    """Whether it says something of a run whose numbers another step measured."""

    @classmethod
    def kind(cls) -> str:
        """Its tag: ``kind`` in its documents, and the name of its entry point."""
        return str(cls.__struct_config__.tag)

    @property
    def elapsed_ns(self) -> int | None:
        """By which repetitions are judged; None: there is no such time."""
        return None

    def why_failed(self) -> str | None:
        """One sentence: why the run failed by what is reported here; None: it did not."""
        return None

    def warnings(self) -> Iterable[tuple[str, str]]:
        """Name and detail of each."""
        return ()

    def shown(self) -> Iterable[StepTable]:
        """What a report shows of it, beside what the workload declares."""
        return ()


class UnreadReport(StepReport, frozen=True):
    """In place of a report whose type no installed package has, or has otherwise."""

    is_beside: ClassVar[bool] = True

    content: dict[str, Any]
    """As it is kept."""
    why: str

    @property
    def document(self) -> dict[str, Any]:
        return self.content

    def shown(self) -> Iterable[StepTable]:
        shown = [
            (name, msgspec.json.encode(value).decode())
            for name, value in self.content.items()
            if name != "kind"
        ]
        yield StepTable(
            "A report as it is kept",
            ("key", "value"),
            tuple(
                (name, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
                for name, text in shown
            ),
        )


Observed = Observation | StepReport
"""What a step may report: of the clients that it drove, or of what it did in their place."""


def read_observation(document: Any, name: str = "observation") -> Observation:
    """Raises `ShapeError` where a key is missing, is of another type, or is not known."""
    if not isinstance(document, Mapping):
        raise ShapeError(f"{name}: expected an object, got {type(document).__name__}")
    if (version := document.get("version")) != VERSION:
        newer = isinstance(version, int) and version > VERSION
        why = ": it was made by a newer Assay" if newer else ""
        raise ShapeError(f"{name}.version: expected {VERSION}, found {version!r}{why}")
    return read(Observation, document, name)


class _Head(msgspec.Struct):
    """By which it is decided how a document is read."""

    version: int | None = None
    kind: str | None = None


def decode_observed(
    text: str, types: Mapping[str, type[StepReport]], name: str = "observation"
) -> Observed:
    """As `read_observed`, of JSON text."""
    return _decoded(text) or read_observed(json.loads(text), types, name)


def decode_observation(text: str) -> Observation:
    """As `read_observation`, of JSON text."""
    return _decoded(text) or read_observation(json.loads(text))


def _decoded(text: str) -> Observation | None:
    """An observation of clients, which may be large, directly from its text; None where it is none,
    or something is wrong with it."""
    try:
        head = msgspec.json.decode(text, type=_Head)
        if head.version != VERSION or head.kind is not None:
            return None
        return msgspec.json.decode(text, type=Observation)
    except msgspec.MsgspecError:
        return None


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
