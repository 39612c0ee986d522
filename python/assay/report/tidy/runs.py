"""The tidy table of runs."""

from __future__ import annotations

from assay.judge.evidence import machine_states
from assay.record.metrics.catalogue import METRICS
from assay.report.columns import (
    attribute,
    behind,
    never_null,
    nullable,
    of,
    of_metric,
    path,
    why_null,
)
from assay.report.program_tables import STORAGE_IN_FORCE, ProgramTable, levels_of, verdict

_BEHIND = {
    "latency_unanswered": [
        why_null(lambda run: run.driven.of_clients.all_ok.latency if run.driven else None)
    ],
    "machine_interrupts": [
        nullable(
            "machine_states_contradicted",
            "string",
            "how the kernel's ticks contradict the times of the machine's processors; null: they "
            "do not, or the times are not known",
            lambda run: machine_states.contradiction(run.evidence),
        )
    ],
    "commit_efficiency": [
        nullable(
            "probe_begun_unix_ns",
            "integer",
            "of the storage's probe; null: not probed",
            path("probe", "begun_unix_ns"),
        )
    ],
}
"""Name of a metric → columns that explain it."""
RUNS = ProgramTable(
    "One row per run.",
    [
    never_null("run", "integer", "its number", attribute("id")),
    never_null("cell", "string", "fingerprint", attribute("cell_fingerprint")),
    never_null("repetition", "integer", "from 1", attribute("repetition")),
    nullable(
        "in_place_of",
        "integer",
        "the repetition that it repeats, since other programs disturbed that one; null: none",
        attribute("in_place_of"),
    ),
    never_null("seed", "string", "of all random streams", lambda run: str(run.seed)),
    never_null(
        "state", "string",
        "done, failed, refused …; exceeded: ended early, far beyond the limit of a goal search",
        attribute("state"),
    ),
    nullable(
        "reason", "string", "why it failed, was ended early or refused", attribute("reason")
    ),
    *of(attribute("judged"), verdict("of this run alone, however many repetitions its cell has")),
    never_null(
        "warnings", "array", "their names",
        lambda run: [warning.name for warning in run.warnings],
    ),
    nullable("begun_unix_ns", "integer", "null: not begun", attribute("begun_unix_ns")),
    nullable("ended_unix_ns", "integer", "null: not ended", attribute("ended_unix_ns")),
    nullable("system_version", "string", "its own", path("deployment", "version")),
    nullable(
        "measured_rtt_s", "number", "round trip through the delay proxy; null: connected directly",
        path("deployment", "delay", "measured_rtt_s"),
    ),
    nullable(
        "durability_class", "string", "D0 to D3; null: not measured",
        path("deployment", "durability", "durability_class"),
    ),
    *behind(map(of_metric, METRICS.values()), _BEHIND),
    *STORAGE_IN_FORCE,
    ],
    lambda experiment: iter(experiment.runs),
    levels=levels_of,
    has_factors=True,
    has_parameters=True,
)  # fmt: skip
