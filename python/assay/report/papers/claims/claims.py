"""Takes ``[[claims]]`` of a workload's ``published.toml``; returns what the paper claims, as data
that can be judged.

A claim compares cells (`assay.report.declared.selection` says how levels and values are named)::

    [[claims]]
    text   = "Inserts are 5 times faster on solid state"
    source = "Table 3"                     # or a section of the paper
    test   = "insert"
    where  = { system = "mydb" }          # levels that all cells of the claim have
    processors = 12                       # a claim about a machine with so many or more

It is judged by itself for each level of every other factor that varies, and says one of these
things about its cells::

    order  = [{ storage_role = "disk" }, { storage_role = "solid state" }]  # from the smallest
    ratio  = "5.0"           # value to the largest; last ÷ first as printed (optional)

    equal  = [{ key = "a_ns" }, { key = "b_ns" }]  # about equal: they differ by no more than
    within = 1.25                                  # this factor (default 1.25)

    times = [{ clients = 12 }, { clients = 1 }]  # the last takes so many times the first:
    least = 9.0                  # at least, or at most (``most``)

    growth    = "records"        # how the value grows with this factor, compared with the paper's
    bound     = "about"          # own values in the range that was run: about as fast, at least so
    tolerance = 0.25             # fast, or at most; by how much the exponents may differ
    exponent  = 1.0              # where the paper has no such values

    equals   = 20                # or at_least, at_most: of each run, a number, or the path of
    at_least = "clients"         # another value of the same run
    undecided = "a.doubtful"     # how many more of the value may be so, which were not decided
    of_answers = true            # about right answers: wrong ones are its result, no reason against
                                 # the run

A claim is open, neither confirmed nor contradicted, where what it is about was not run::

    from      = { clients = 8 }        # the least level of a factor,
    to        = { records = 10000 }    # or the greatest, that it is about
    beyond_memory = true               # it is about more data than the system's memory
    not_here  = "the paper has one table, this workload three"   # why it cannot be judged at all

``derived = true``: its number is not printed, but computed from printed ones, as one of the form
``"0.073 / 0.016"`` is anyway.

``ratio`` says how far the paper's first and last value are apart, with the digits that are printed
(`assay.report.papers.claims.printed_ratio` has its forms). It is judged, unless the values are
about equal: these have ``within``. A claim of an order alone has no ratio.

``test``, ``value``, ``key`` and ``per`` may stand in a single cell as well (``{ test = "connect",
key = "a_ns" }``), and ``name``, which is what reports call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field

from assay.contracts.recorded import WorkloadRecord
from assay.report.declared import selection
from assay.report.declared.selection import Levels, Quantity
from assay.report.papers.claims import judgement, printed_ratio
from assay.report.papers.claims.printed_ratio import PrintedRatio
from assay.text.files.toml_file import TomlTable
from assay.text.quantities import Real

_ANY = Real(-1e18, 1e18)


class ClaimKind(StrEnum):
    """What a claim says of its cells: its key in the file."""

    ORDER = "order"
    EQUAL = "equal"
    TIMES = "times"
    GROWTH = "growth"
    EQUALS = "equals"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


BOUNDS = (ClaimKind.EQUALS, ClaimKind.AT_LEAST, ClaimKind.AT_MOST)
COMPARISONS = (ClaimKind.ORDER, ClaimKind.EQUAL, ClaimKind.TIMES)


class GrowthBound(StrEnum):
    """What a claim says of a growth, beside that of the paper's own values."""

    ABOUT = "about"
    AT_LEAST = "at least"
    AT_MOST = "at most"


class Term(Struct, frozen=True):
    """Cells that a claim compares, and what is read from them."""

    levels: Levels
    quantity: Quantity

    @property
    def test(self) -> str:
        return str(self.levels["test"])


class Claim(Struct, frozen=True):
    text: str
    source: str
    kind: ClaimKind
    terms: tuple[Term, ...]
    """From the smallest value to the largest; one where it says something of each value."""
    ratio: PrintedRatio | None = None
    """Of the last and the first cell, as printed."""
    exponent: float | None = None
    """Of a growth."""
    is_derived: bool = False
    """It is not printed, but computed from printed numbers."""
    growth: str = ""
    """The factor with which the value grows."""
    growth_bound: GrowthBound = GrowthBound.ABOUT
    least: float | None = None
    """Of the ratio of the last and the first cell (`Kind.TIMES`)."""
    most: float | None = None
    limit: float | str = 0.0
    """Of a bound: a number, or a path."""
    undecided: str = ""
    """Path of how many more of the value may be so; empty: all are decided."""
    is_of_answers: bool = False
    """It is about right answers, so that runs with wrong ones are judged."""
    within: float = judgement.WITHIN
    """The factor by which equal values may differ."""
    tolerance: float = 0.25
    """By which an exponent may differ."""
    processors: int = 0
    """The machine must have so many, for the claim to be comparable."""
    needs_full: tuple[str, ...] = ()
    """Parameters with whose full values the claim is about: with smaller ones it is another."""
    least_levels: Mapping[str, float] = field(default_factory=dict)
    """Factor → the least level that the claim is about."""
    most_levels: Mapping[str, float] = field(default_factory=dict)
    is_beyond_memory: bool = False
    """It is about more data than the system's memory."""
    not_here: str = ""
    """Why it cannot be judged by this workload; empty: it can."""
    names: tuple[str, ...] = ()
    """The levels in which the terms differ, of each term."""

    @property
    def shown(self) -> str:
        return f"{self.text} ({self.source})"


def read(section: TomlTable) -> Claim:
    """Raises `ExperimentError` with the line that is wrong."""
    text, source = section.text("text"), section.text("source")
    said = [kind for kind in ClaimKind if kind in section]
    if len(said) != 1:
        raise section.error(
            "a claim says one thing of its cells", hint=f"one of {', '.join(ClaimKind)}"
        )
    (kind,) = said
    where = selection.levels(section.section("where")) if "where" in section else {}
    if "test" in section:
        where["test"] = section.text("test")
    common = selection.quantity(section)
    terms: tuple[Term, ...] = (Term(where, common),)
    names: tuple[str, ...] = ()
    if kind in COMPARISONS:
        tables = section.sections(kind)
        given = [one.text("name", "") for one in tables]
        own = [selection.levels(one, "name") for one in tables]
        quantities = [selection.quantity(one, common) for one in tables]
        for one in tables:
            one.done()
        if len(own) < 2:
            raise section.error("at least two cells to compare", kind)
        terms = tuple(
            Term({**where, **levels}, of) for levels, of in zip(own, quantities, strict=True)
        )
        names = tuple(
            name or _named(levels, of, common)
            for name, levels, of in zip(given, own, quantities, strict=True)
        )
    if any("test" not in term.levels for term in terms):
        raise section.error("a claim without a test", hint='test = "NAME"')
    ratio = _ratio(section)
    claim = Claim(
        text=text,
        source=source,
        kind=kind,
        terms=terms,
        ratio=ratio,
        exponent=section.number("exponent", _ANY) if "exponent" in section else None,
        is_derived=section.boolean("derived", ratio is not None and ratio.is_of_values),
        growth=section.text("growth") if kind is ClaimKind.GROWTH else "",
        growth_bound=GrowthBound(section.choice("bound", [*GrowthBound], GrowthBound.ABOUT)),
        least=_bound(section, "least", kind),
        most=_bound(section, "most", kind),
        limit=_limit(section, kind) if kind in BOUNDS else 0.0,
        undecided=section.text("undecided", ""),
        is_of_answers=section.boolean("of_answers", False),
        within=section.number("within", _ANY, judgement.WITHIN),
        tolerance=section.number("tolerance", _ANY, 0.25),
        processors=int(section.number("processors", _ANY, 0)),
        needs_full=section.texts("needs_full", ()),
        least_levels=_numbers(section, "from"),
        most_levels=_numbers(section, "to"),
        is_beyond_memory=section.boolean("beyond_memory", False),
        not_here=section.text("not_here", ""),
        names=names,
    )
    if kind is ClaimKind.TIMES and claim.least is None and claim.most is None:
        raise section.error("how many times", kind, hint="least = 2, or most = 2")
    section.done()
    return claim


def of_record(workload: WorkloadRecord) -> list[Claim]:
    """The claims at the time of the run."""
    found = workload.get("claims", ())
    return [
        read(TomlTable(Path("published.toml"), "", ("claims", place), claim))
        for place, claim in enumerate(found)
    ]


def _ratio(section: TomlTable) -> PrintedRatio | None:
    """A number is that of a record of an earlier Assay."""
    if "ratio" not in section:
        return None
    try:
        if section.is_text("ratio"):
            return printed_ratio.read(section.text("ratio"))
        return printed_ratio.of_number(section.number("ratio", _ANY))
    except ValueError as error:
        raise section.error(str(error), "ratio") from None


def _bound(section: TomlTable, name: str, kind: ClaimKind) -> float | None:
    return section.number(name, _ANY) if kind is ClaimKind.TIMES and name in section else None


def _numbers(section: TomlTable, name: str) -> Mapping[str, float]:
    """Levels by factor; none where the claim has no such table."""
    if name not in section:
        return {}
    own = section.section(name)
    found = {factor: own.number(factor, _ANY) for factor in own.names()}
    own.done()
    return found


def _limit(section: TomlTable, kind: ClaimKind) -> float | str:
    return section.text(kind) if section.is_text(kind) else section.number(kind, _ANY)


def _named(levels: Levels, quantity: Quantity, common: Quantity) -> str:
    """What this cell is called: the levels and the path that are its own."""
    own = [quantity.value or " + ".join(quantity.keys)] if quantity != common else []
    return " ".join([*(str(level) for level in levels.values()), *own])
