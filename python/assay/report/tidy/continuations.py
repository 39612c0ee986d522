"""The columns of the tidy table of continuations: which process went on with an experiment after
another one had ended, and where that was."""

from __future__ import annotations

from assay.report.tidy.columns import TidyColumn, attribute, never_null, path

CONTINUATIONS = [
    never_null("position", "integer", "from 1", attribute("position")),
    never_null(
        "ended_process_id", "integer", "of the process before", attribute("ended_process_id")
    ),
    never_null(
        "is_interruption", "boolean",
        "false: that had ended by itself, after the runs that were asked for (--only)",
        attribute("is_interruption"),
    ),
    never_null(
        "last_unix_ns", "integer", "when that last entered a stage of a run",
        attribute("last_unix_ns"),
    ),
    TidyColumn(
        "run_position", "integer",
        "of the run that it was at, from 0, which begins again; null: none, or no longer planned",
        attribute("run_position"),
    ),
    TidyColumn("run_state", "string", "of that run; null: none", attribute("run_state")),
    never_null(
        "process_id", "integer", "of the process that went on", path("process", "pid")
    ),
    never_null("begun_unix_ns", "integer", "when it began", attribute("begun_unix_ns")),
    never_null(
        "changes", "array", "facts of machine, build and content that were others before",
        attribute("differences"),
    ),
    never_null(
        "is_asked_otherwise", "boolean", "the experiment file or the workload had changed",
        attribute("is_asked_otherwise"),
    ),
]  # fmt: skip
