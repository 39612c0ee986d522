"""What steps report that drive no clients: an update of the rows, and the most sessions there can
be."""

from __future__ import annotations

from assay.observation.shape import Shape


class UpdatedTable(Shape, frozen=True):
    """One table behind an update; ``fresh_rows``: behind a load of the same input."""

    rows: int
    digest: str
    fresh_rows: int


class UpdateReport(Shape, frozen=True, tag_field="kind", tag="update"):
    """Rows that followed changes of their input."""

    changed_files: int
    vanished_files: int
    deleted_rows: int
    inserted_rows: int
    elapsed_ns: int
    equals_fresh_load: bool
    tables: dict[str, UpdatedTable]


class Refusal(Shape, frozen=True, rename={"class_": "class"}):
    """How a system refused a session."""

    class_: str
    code: str
    message: str


class SessionsFound(Shape, frozen=True):
    """How many sessions were accepted, and the limit if the system states one."""

    limit: int | None
    opened: int
    refused_at: int | None
    error: Refusal | None


class LimitReport(Shape, frozen=True, tag_field="kind", tag="limit"):
    """The most sessions, with the system's default limit and with it raised for ``upto``."""

    upto: int
    default: SessionsFound
    raised: SessionsFound


OtherReport = UpdateReport | LimitReport
