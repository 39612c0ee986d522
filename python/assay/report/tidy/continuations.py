"""The columns of the tidy table of continuations: which process went on with an experiment after
another one had ended, and where that was."""

from __future__ import annotations

from assay.report.tidy.columns import TidyColumn, attribute, path

CONTINUATIONS = [
    TidyColumn("position", "integer", "from 1", attribute("position"), False),
    TidyColumn(
        "ended_process_id", "integer", "of the process before", attribute("ended_process_id"), False
    ),
    TidyColumn(
        "is_interruption", "boolean",
        "false: that had ended by itself, after the runs that were asked for (--only)",
        attribute("is_interruption"), False,
    ),
    TidyColumn(
        "last_unix_ns", "integer", "when that last entered a stage of a run",
        attribute("last_unix_ns"), False,
    ),
    TidyColumn(
        "run_position", "integer",
        "of the run that it was at, from 0, which begins again; null: none, or no longer planned",
        attribute("run_position"),
    ),
    TidyColumn("run_state", "string", "of that run; null: none", attribute("run_state")),
    TidyColumn(
        "process_id", "integer", "of the process that went on", path("process", "pid"), False
    ),
    TidyColumn("begun_unix_ns", "integer", "when it began", attribute("begun_unix_ns"), False),
    TidyColumn(
        "changes", "array", "facts of machine, build and content that were others before",
        attribute("differences"), False,
    ),
    TidyColumn(
        "is_asked_otherwise", "boolean", "the experiment file or the workload had changed",
        attribute("is_asked_otherwise"), False,
    ),
]  # fmt: skip
