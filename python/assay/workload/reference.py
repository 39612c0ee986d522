"""Takes ``[tests.NAME.reference]`` of a workload file; gives the `Reference`: what a single client
leaves, with which many are compared.

::

    [tests.reliability.reference]
    dump    = "dump.sql"     # a query; its rows must be the same, in the same order
    own     = "own.sql"      # of them what stays the same also where clients overtake one another
    each    = "set"          # the variable that numbers the dumps, from 0: one for each client
    stagger = "stagger_s"    # the parameter that holds the seconds between two clients' starts
    pause   = "pause_s"      # the one that holds the seconds a client rests behind a transaction
    at_once = 3              # clients that must be at work together

    [tests.reliability.reference.parameters]
    records = "least(:records, 1000)"   # parameters that differ for the single client
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.text.quantities import CLIENTS
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression


@dataclass(frozen=True)
class Reference:
    """With what the traces of many clients are compared."""

    dump: str
    """Name of the script that asks for the rows to compare."""
    own: str
    """Name of the script that asks for what a client left whoever came before it; empty: none.
    Where dumps differ and this does not, clients overtook one another, and nothing was lost."""
    each: str
    """The variable that numbers the dumps, from 0 up to the number of clients."""
    stagger: str
    """The parameter that holds the seconds between two clients' starts. Where it is 0 they are
    found: what one client takes by itself, divided by `at_once`."""
    pause: str
    """The parameter that holds the seconds a client rests behind each transaction. Where it is 0
    they are found too: a system may be so fast that a hiccup of the machine would make clients
    overtake one another."""
    at_once: int
    """How many clients must be at work together."""
    parameters: Mapping[str, Expression] = field(default_factory=dict)
    """What the single client is given instead: expressions of parameters and of ``:clients``."""


def read(
    section: Section, scripts: Mapping[str, object], parameters: Mapping[str, Parameter]
) -> Reference:
    """Raises `ExperimentError` at the line that is wrong."""
    by_path = {f"{name}.sql": name for name in scripts}
    dump = by_path[section.choice("dump", by_path)]
    own = by_path[section.choice("own", by_path)] if "own" in section else ""
    changed = section.section("parameters")
    for name in changed.names():
        if name not in parameters:
            raise changed.error(
                f"unknown parameter {name!r}", name, hint=did_you_mean(name, parameters)
            )
    reference = Reference(
        dump=dump,
        own=own,
        each=section.text("each"),
        stagger=_seconds(section, "stagger", parameters),
        pause=_seconds(section, "pause", parameters),
        at_once=section.whole("at_once", CLIENTS),
        parameters={
            name: Expression(str(changed.scalar(name)), changed.line_of(name))
            for name in changed.names()
        },
    )
    section.done()
    return reference


def _seconds(section: Section, key: str, parameters: Mapping[str, Parameter]) -> str:
    name = section.choice(key, parameters)
    if parameters[name].type != "float":
        raise section.error(
            f"{key} names {name!r}, which is no float", key, hint="it holds seconds"
        )
    return name
