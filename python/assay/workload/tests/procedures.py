"""Takes a test's ``procedure = "…"``, a short form for common steps; returns those steps.

::

    [tests.reliability.reference]      # with procedure = "reference" dump    = "dump.sql"     # a
    query; its rows must be the same, in the same order own     = "own.sql"      # the part of them
    that stays the same even where clients overtake one another each    = "set"          # the
    variable that numbers the dumps, from 0: one for each client stagger = "stagger_s"    # the
    parameter that holds the seconds between two clients' starts pause   = "pause_s"      # the
    parameter that holds the seconds of pause after a transaction at_once = 3              # clients
    that must work at once

    [tests.reliability.reference.parameters]
    records = "least(:records, 1000)"   # parameters that differ for the single client
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.registry import step
from assay.text.files.toml_file import TomlTable
from assay.text.quantities import CLIENTS
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.scripts.script_names import NamedScript
from assay.workload.steps import Names, Step
from assay.workload.tests import step_keys

PROCEDURES = ("drive", "update", "limit", "reference", "connect")


def read(
    section: TomlTable,
    procedure: str,
    scripts: Mapping[str, NamedScript],
    known: Mapping[str, Parameter],
) -> tuple[Step, ...]:
    """The steps of the test that ``section`` declares; raises `ExperimentError`."""
    if procedure == "update":
        return (step("load")(), step("update")())
    if procedure == "limit":
        return (step("limit")(),)
    if procedure == "connect":
        return _connect()
    if procedure == "reference":
        return _reference(section.section("reference"), scripts, known)
    return (step("load")(), step("drive")())


def _connect() -> tuple[Step, ...]:
    kept, each = "kept", "per transaction"
    return (
        step("load")(),
        step("drive")(kept, driving_changes={"connection": kept}),
        step("drive")(each, driving_changes={"connection": each}),
        step("session_cost")(kept=kept, per_transaction=each),
    )


def _reference(
    section: TomlTable, scripts: Mapping[str, NamedScript], known: Mapping[str, Parameter]
) -> tuple[Step, ...]:
    """Compares the rows that a single client leaves on a small table with those of many clients."""
    names = Names(scripts, known)
    small = step_keys.parameters(section.section("parameters"), known)
    dump = step_keys.script(section, "dump", names)
    own = step_keys.script(section, "own", names) if "own" in section else ""
    overlap = step("overlap")(
        "together",
        alone="alone",
        stagger=step_keys.seconds(section, "stagger", names),
        pause=step_keys.seconds(section, "pause", names),
        at_once=section.whole("at_once", CLIENTS),
    )
    at_once = Expression("0.0", 0)
    unpaced = {overlap.stagger: at_once, overlap.pause: at_once}
    alone = step("dump")("alone", script=dump, own=own, each=section.text("each"), parameters=small)
    section.done()
    return (
        step("load")(parameters=small),
        step("drive")("alone", is_one_client=True, parameters={**small, **unpaced}),
        alone,
        overlap,
        replace(alone, name="together", parameters={}),
        step("compare")(expected="alone", found="together"),
    )
