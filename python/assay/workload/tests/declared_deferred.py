"""Takes the key ``deferred`` of a test; returns the clients that run what its scripts queue.

deferred = { scripts = ["deliver.sql"], clients = 2, latency_limit_s = 80 }
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.workload.scripts import script_names
from assay.workload.steps import Deferred
from assay.workload.values import Script, Test


def read(section: TomlTable, scripts: Mapping[str, Script]) -> Deferred | None:
    """None where the test declares none."""
    if "deferred" not in section:
        return None
    own = section.section("deferred")
    names = script_names.named(own, "scripts", own.texts("scripts"), scripts)
    clients = own.whole("clients", quantities.CLIENTS) if "clients" in own else 1
    limit_s = (
        own.number("latency_limit_s", quantities.LATENCY_LIMIT_S)
        if "latency_limit_s" in own
        else None
    )
    own.done()
    return Deferred(names, clients, limit_s or None)


def refuse_others(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` where the clients of the test are not all alike, and where a script
    is both queued and run."""
    if test.deferred is None:
        return
    if test.only_drive is None:
        raise section.error(
            "deferred needs a single drive step, whose clients are all alike", "deferred"
        )
    if both := set(test.deferred.scripts) & set(test.scripts):
        raise section.error(
            f"{min(both)} is deferred, and run by the clients of the test as well",
            "deferred",
            hint="leave it out of the scripts or the mix of the test",
        )
