"""What ``[report.TEST]`` and ``[series.NAME]`` of a workload file declare: what the table of a
test, and a table over several tests, shows."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from assay.contracts.driving import CACHES
from assay.text.keys import FLAG, TEXT, TEXTS, OneOf, in_file
from assay.text.units import TIME_UNITS

SHOWN = ("elapsed", "latency", "load_time", "size_on_disk", "throughput")
"""What [report.TEST] can show of each run (`assay.report.declared.aggregates.KEYS`)."""
TITLE = in_file(TEXT, "One line, for reports.")
REPRODUCES = in_file(TEXT, "What is repeated, for the report: a paper and its table.")
_UNIT = in_file(OneOf(tuple(TIME_UNITS)), "The unit of a time.")


class Field(Struct, frozen=True):
    key: Annotated[str, in_file(TEXT, "The path of the field (`default.refused_at`).")]
    title: Annotated[str, in_file(TEXT, "The heading of its column.")]
    unit: Annotated[str, _UNIT] = "s"


class Declaration(Struct, frozen=True):
    title: Annotated[str, TITLE] = ""
    """Empty: the name of the test."""
    reproduces: Annotated[str, REPRODUCES] = ""
    blocks: Annotated[str, in_file(TEXT, "The factor whose levels become blocks of rows.")] = ""
    rows: Annotated[str, in_file(TEXT, "The factor whose levels become rows.")] = "system"
    columns: Annotated[str, in_file(TEXT, "The factor whose levels become columns.")] = "storage"
    value: Annotated[str, in_file(OneOf(SHOWN), "What is shown.")] = "elapsed"
    unit: Annotated[str, _UNIT] = "s"
    has_speed_up: Annotated[bool, in_file(
        FLAG, "Whether the first column ÷ each other column is shown.", name="speed_up",
    )] = False  # fmt: skip
    has_scalability: Annotated[bool, in_file(
        FLAG, "Whether the speed-up ÷ the ratio of clients is shown.", name="scalability",
    )] = False  # fmt: skip
    fields: Annotated[tuple[Field, ...], in_file(
        (), "The fields of the observation that are shown, instead of factors.",
        below=Field, is_list=True,
    )] = ()  # fmt: skip
    """Empty: the table is by factors."""
    along: Annotated[str, in_file(
        TEXT,
        "What the titles of the fields count, if they are numbers: a chart has the fields along "
        "them.",
    )] = ""  # fmt: skip
    note: Annotated[str, in_file(
        TEXT, "A sentence below the table: what its numbers include, and what they do not."
    )] = ""  # fmt: skip

    @property
    def heading(self) -> str:
        """``title (Beebe 2011, Table 2)``."""
        return f"{self.title} ({self.reproduces})" if self.reproduces else self.title

    @property
    def is_more_better(self) -> bool:
        return self.value == "throughput"


class SeriesColumn(Struct, frozen=True):
    test: Annotated[str, in_file(TEXT, "The test whose results the column shows.")]
    title: Annotated[str, in_file(TEXT, "The heading of the column.")]
    key: Annotated[str, in_file(TEXT, "The field of the observation.")] = ""
    value: Annotated[str, in_file(
        OneOf(SHOWN),
        "In place of a key: what is read of each run, `throughput` or another of those that "
        "[report.TEST] knows.",
    )] = ""  # fmt: skip
    unit: Annotated[str, _UNIT] = "s"
    cache: Annotated[str | None, in_file(
        OneOf(CACHES), "The state of the caches of the runs that are shown.",
    )] = None  # fmt: skip
    """None: all of them."""
    independent_of: Annotated[tuple[str, ...], in_file(
        TEXTS,
        "Parameters on which the column does not depend: it is compared with published values "
        "also where they are scaled down.",
    )] = ()  # fmt: skip

    @property
    def levels(self) -> dict[str, str]:
        """By factor: those of the runs that are shown."""
        return {"test": self.test, **({"cache": self.cache} if self.cache else {})}


class Series(Struct, frozen=True):
    name: str
    title: Annotated[str, TITLE]
    columns: Annotated[tuple[SeriesColumn, ...], in_file(
        (), "[[series.NAME.columns]]: a column of the table.", below=SeriesColumn, is_list=True,
    )] = ()  # fmt: skip
    reproduces: Annotated[str, REPRODUCES] = ""
    rows: Annotated[str, in_file(TEXT, "The factor whose levels become rows.")] = "clients"
    paper_only: Annotated[bool, in_file(
        FLAG,
        "Whether only the reports of a paper's experiment, and of one asked for by its name, show "
        "it.",
    )] = False  # fmt: skip

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.reproduces})" if self.reproduces else self.title
