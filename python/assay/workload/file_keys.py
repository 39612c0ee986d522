"""Declares every key of workload files, and those of `Driving`, which tests, steps, groups and
experiment files share."""

from __future__ import annotations

from collections.abc import Mapping

from assay import registry
from assay.contracts.driving import (
    CACHES,
    ISOLATION_LEVELS,
    OF_FILES,
    READS,
    RETRY_CLASSES,
    SETTINGS,
)
from assay.contracts.setting import Choice, Flag, Route, Setting
from assay.text import quantities
from assay.text.keys import (  # fmt: skip
    FLAG,
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Kind,
    Listed,
    NumberWithin,
    OneOf,
    OneOfNames,
    of_fields,
    of_names,
)
from assay.text.units import TIME_UNITS
from assay.workload.declared_results import BETTER
from assay.workload.declared_steps import ORDERS, PROCEDURES
from assay.workload.derived_metrics import INPUTS, DerivedMetric
from assay.workload.parameters import Parameter
from assay.workload.values import TITLE, Quick, Test

_TABLES = {
    "retries": Keys(
        (
            Key("most", NumberWithin(quantities.RETRIES), "Retries of a transaction, at most.",
                is_required=True),
            Key("classes", Listed(OneOf(RETRY_CLASSES)), SETTINGS["retry_classes"].help),
        )
    ),
    "reconnect_timeout_s": Keys(
        (
            Key("timeout_s", NumberWithin(quantities.WAIT_S),
                "Seconds for which a client that has lost its connection tries to reconnect."),
        )
    ),
    "isolation": Keys(of_any_name=Key("", OneOf(ISOLATION_LEVELS))),
    "read": Keys(of_any_name=Key("", OneOf(READS))),
}  # fmt: skip
"""Of those that may be a table as well."""


def driving_keys(*, is_of_workload: bool) -> tuple[Key, ...]:
    """``is_of_workload``: then a number may be the name of a parameter."""
    return tuple(
        Key(
            setting.name,
            _kinds(setting, is_of_workload),
            "" if setting.heading else setting.help,
            below=_TABLES.get(field),
        )
        for field, setting in OF_FILES.items()
        if setting.workloads_say or not is_of_workload
    )


def _kinds(setting: Setting, names_parameters: bool) -> Kind | tuple[Kind, ...]:
    if setting.quantity is not None:
        kind = NumberWithin(setting.quantity)
        return (TEXT, kind) if names_parameters else kind
    match setting.kind:
        case Choice(levels=words) | Route(words=words):
            return OneOf(words)
        case Flag():
            return FLAG
    return TEXT


_MIX = Keys(of_any_name=Key("", (TEXT, NumberWithin(quantities.WEIGHT_IN_A_MIX))))
SCRIPTS = (
    Key("mix", help="Script file → its weight: clients choose at random.", below=_MIX),
    Key("scripts", TEXTS, "Script files, in their order; * stands for any letters."),
    Key("order", OneOf(ORDERS),
        "`sequence`: each client runs the scripts in their order; `mix`: at random by weight; "
        "`deck`: as many of each as its weight, shuffled, until none is left, and again."),
)  # fmt: skip
"""Of a test, a drive step, a group."""
IN_WORKLOADS = driving_keys(is_of_workload=True)
_CLIENTS = (TEXT, NumberWithin(quantities.CLIENTS))
_GROUP = Keys(
    (
        *SCRIPTS,
        *IN_WORKLOADS,
        Key("name", TEXT, "The name of the group, for --clients NAME=N.", is_required=True),
        Key("clients", _CLIENTS, "The number of its clients, or the parameter or constant that "
            "holds it; where that is 0, the group is left out."),
        Key("ends_with", TEXT, "The group of the step with whose last client these clients end, "
            "each after its transaction; otherwise they end by themselves."),
    )
)  # fmt: skip
DRIVE_STEP = (
    *SCRIPTS,
    Key("groups", help="[[…groups]]: clients that run the same scripts at the same pace; groups "
        "run at the same time.", below=_GROUP, is_list=True),
    Key("clients", _CLIENTS,
        "The number of clients, or the parameter or constant that holds it; otherwise that of the "
        "run."),
    Key("one_client", FLAG, "One client does the work of all."),
    Key("result", FLAG, "The numbers of the run are those of this step; otherwise of its last "
        "step that measures."),
    *IN_WORKLOADS,
)  # fmt: skip
STEP = (
    Key("name", TEXT, "The name under which other steps and reports refer to its results."),
    Key("parameters", help="Parameters that differ in this step: expressions of the run's.",
        below=Keys(of_any_name=Key("", SCALAR))),
)  # fmt: skip
"""Of every step."""


def _named(of: Kind) -> Keys:
    """A table of values under names that the file gives."""
    return Keys(of_any_name=Key("", of))


def _tables(of: Keys) -> Keys:
    """Tables under names that the file gives."""
    return Keys(of_any_name=Key("", below=of))


def _steps() -> Mapping[str, Keys]:
    """By their ``do``; without those of other packages that declare no keys."""
    declared = {name: registry.step(name).declared_keys() for name in sorted(registry.steps())}
    do = Key("do", OneOfNames(registry.steps), "The kind of step.", is_required=True)
    return {
        name: Keys((do, *own, *STEP)) for name, own in declared.items() if own is not None
    }  # fmt: skip


SHOWN = ("elapsed", "latency", "load_time", "size_on_disk", "throughput")
"""What [report.TEST] can show of each run (`assay.report.cell_runs.aggregates.KEYS`)."""
_TITLE = TITLE.help
(_REPRODUCES,) = of_names(Test, "reproduces")
_UNIT = Key("unit", OneOf(tuple(TIME_UNITS)), "The unit of a time.")
_PARAMETER = Keys(
    (
        *of_fields(Parameter),
        Key("needs", help="Level → capabilities that a run needs at this level.",
            below=_named(TEXTS)),
        Key("languages", help="Level → the languages of the systems that have it; otherwise all.",
            below=_named(TEXTS)),
    )
)  # fmt: skip
_QUICK = Keys(
    (
        *of_fields(Quick),
        *IN_WORKLOADS,
    )
)  # fmt: skip
_REFERENCE = Keys(
    (
        Key("parameters", help="Parameters that differ for the single client.",
            below=_named(SCALAR)),
        Key("dump", TEXT, "A query; its rows must be the same, in the same order.",
            is_required=True),
        Key("own", TEXT, "The part of the rows that no other client can change."),
        Key("stagger", TEXT,
            "The parameter that holds the seconds between the starts of two clients.",
            is_required=True),
        Key("pause", TEXT, "The parameter that holds the seconds of pause after a transaction.",
            is_required=True),
        Key("at_once", NumberWithin(quantities.CLIENTS), "Clients that must work at the same time.",
            is_required=True),
        Key("each", TEXT, "The variable that numbers the dumps, from 0: one for each client.",
            is_required=True),
    )
)  # fmt: skip
_HEADLINE = Keys(
    (
        Key("title", TEXT, "What is counted, in the plural: `new orders`.", is_required=True),
        Key("transactions", TEXTS, "The scripts whose transactions are counted.",
            is_required=True),
    )
)  # fmt: skip
_DEFERRED = Keys(
    (
        Key("scripts", TEXTS, "The scripts that are queued.", is_required=True),
        Key("clients", NumberWithin(quantities.CLIENTS), "How many clients run them, beside those "
            "of the run; otherwise 1."),
        Key("latency_limit_s", NumberWithin(quantities.LATENCY_LIMIT_S),
            "From \\defer to the end; one that takes longer is late, and is run all the same."),
    )
)  # fmt: skip
_TEST = Keys(
    (
        *SCRIPTS,
        *of_names(Test, "title", "help", "reproduces"),
        Key("steps", help="[[tests.NAME.steps]]: what the test does, in order; without steps: "
            "load and drive.", below=Keys(variant="do", variants=_steps), is_list=True),
        Key("procedure", OneOf(PROCEDURES), "A short name of common steps."),
        *of_names(Test, "clients"),
        *IN_WORKLOADS,
        Key("cache", TEXTS, "States of the caches when a measurement begins, each measured."),
        *of_names(Test, "cold_each_script", "protocol", "data", "changes_data",
                  "allows_native_client", "compare_results", "reads_device"),
        Key("data_to_buffer", (TEXT, NumberWithin(quantities.DATA_TO_BUFFER)),
            "How many times larger the data are than the system's buffer: a number, or a "
            "parameter."),
        Key("checks", Listed(TEXT, may_be_empty=True),
            "The checks that are made; otherwise all."),
        Key("counted_checks", Listed(TEXT, may_be_empty=True),
            "Checks whose finds are counted and fail no run."),
        Key("defaults", help="Parameter → its levels in this test where none is given.",
            below=_named(Listed(SCALAR))),
        Key("quick", help="What a quick version (--quick) has in place of it.", below=_QUICK),
        Key("needs", Listed(TEXT, may_be_empty=True), "Capabilities that a system must have."),
        Key("goes_without", help="Dialect or language → those of the needs that its systems may "
            "lack: they run the test all the same, with a warning.", below=_named(TEXTS)),
        Key("not_expressible", help="Dialect or language → why it cannot express the test.",
            below=_named(TEXT)),
        Key("headline", help="The rate by which the test is known, per minute: of transactions "
            "that committed or were rolled back by `\\abort`.", below=_HEADLINE),
        Key("response_limits", help='Script → how long its transactions may take: "p90 < 5s".',
            below=_named(TEXT)),
        Key("deferred", help="Who runs the scripts that others queue with \\defer.",
            below=_DEFERRED),
        Key("reference", help='With procedure = "reference": what is dumped, compared and '
            "overlapped.", below=_REFERENCE),
    )
)  # fmt: skip
_UPDATE = Keys(
    (
        Key("table", TEXT, "The table whose rows are replaced.", is_required=True),
        Key("key", TEXT, "The column that names a row in the input.", is_required=True),
        Key("rebuilt", TEXTS, "Tables that are emptied and filled again."),
    )
)
_DATA = Keys(
    (
        Key("source", OneOfNames(registry.row_sources), "The row source: `generated` from "
            "expressions, `program` that writes them, `none`, or one that a package registers.",
            is_required=True),
        Key("package", TEXT, "Of `program`: the Python package whose program makes the rows, with "
            'its version: "NAME==VERSION".'),
        Key("command", TEXTS, "Of `program`: the program and its arguments, with {NAME} of a "
            "parameter or a constant; it writes files into its working directory."),
        Key("files", TEXT, "Of `program`: the file of a table, with a row on each line: "
            '"{table}.txt".'),
        Key("separator", TEXT, "Of `program`: the character between the cells of a line; without "
            "it `|`."),
        Key("ends_line", FLAG, "Of `program`: whether a separator stands after the last cell too."),
        Key("text_bytes", TEXT, "Of `program`: an expression, how many bytes all rows are as text, "
            "about, so that a plan knows the space."),
        Key("default_input", TEXT,
            "The data set of `assay get` that is read where no --input is given."),
        Key("update",
            help="How changed input files are applied to loaded rows, in the step `update`.",
            below=_UPDATE),
    ),
    is_open=True,
)  # fmt: skip
_INDEX = Keys(
    (
        Key("columns", TEXT,
            "Columns separated by commas, each with `desc` for descending order.",
            is_required=True),
        Key("when", SCALAR,
            "An expression of parameters: the index is created where it is true.",
            is_required=True),
    )
)  # fmt: skip
_TABLE = Keys(
    (
        Key("name", TEXT, "Its name; {instance} in it makes one table for each number.",
            is_required=True),
        Key("columns",
            help="Column → type, and any of `not null`, `wide` and `default LITERAL`.",
            below=_named(TEXT)),
        Key("primary_key", TEXTS, "Columns of the primary key."),
        Key("indexes", Listed(TEXT, may_be_empty=True),
            'Indexes: "column, other desc", or { columns, when }.', below=_INDEX, is_list=True),
        Key("unique", TEXTS, "Unique constraints, each a list of columns separated by commas."),
        Key("foreign_keys", TEXTS, 'Foreign keys: "column -> table(column)".'),
        Key("partition_by", TEXTS,
            "Columns by which a system spreads the table over its nodes."),
        Key("partition_order", TEXTS,
            "Columns by which the rows of a partition are ordered."),
        Key("instances", TEXT,
            'The numbers of a table with {instance} in its name: "1..10".'),
        Key("rows", SCALAR, "The number of rows, or of rows per row of `per`: an expression of "
            "parameters."),
        Key("per", TEXT, "The table for each row of which `rows` rows are made."),
        Key("values", help="Column → the expression of its value.", below=_named(SCALAR)),
        Key("languages", TEXTS,
            "Only systems with statements in one of these languages have the table."),
        Key("when", SCALAR,
            "An expression of parameters: systems have the table where it is true."),
    )
)  # fmt: skip
_VIEW = Keys(
    (
        Key("name", TEXT, "The name of the view.", is_required=True),
        Key("overrides", help="Dialect → its query, where that is spelled otherwise.",
            below=_named(TEXT)),
        Key("query", TEXT, "Its query, without variables.", is_required=True),
    )
)  # fmt: skip
_COLUMN = Keys(
    (
        Key("test", TEXT, "The test whose results the column shows.", is_required=True),
        Key("title", TEXT, "The heading of the column.", is_required=True),
        Key("key", TEXT, "The field of the observation."),
        Key("value", OneOf(SHOWN), "In place of a key: what is read of each run, `throughput` or "
            "another of those that [report.TEST] knows."),
        _UNIT,
        Key("cache", OneOf(CACHES), "The state of the caches of the runs that are shown."),
        Key("independent_of", TEXTS, "Parameters on which the column does not depend: it is "
            "compared with published values also where they are scaled down."),
    )
)  # fmt: skip
_SERIES = Keys(
    (
        Key("columns", help="[[series.NAME.columns]]: a column of the table.", below=_COLUMN,
            is_list=True),
        Key("title", TEXT, _TITLE, is_required=True),
        _REPRODUCES,
        Key("rows", TEXT, "The factor whose levels become rows."),
        Key("paper_only", FLAG, "Whether only the reports of a paper's experiment, and of one "
            "asked for by its name, show it."),
    )
)  # fmt: skip
_FIELD = Keys(
    (
        Key("key", TEXT, "The path of the field (`default.refused_at`).", is_required=True),
        Key("title", TEXT, "The heading of its column.", is_required=True),
        _UNIT,
    )
)
_REPORT = Keys(
    (
        Key("title", TEXT, _TITLE),
        _REPRODUCES,
        Key("blocks", TEXT, "The factor whose levels become blocks of rows."),
        Key("rows", TEXT, "The factor whose levels become rows."),
        Key("columns", TEXT, "The factor whose levels become columns."),
        Key("value", OneOf(SHOWN), "What is shown."),
        _UNIT,
        Key("speed_up", FLAG, "Whether the first column ÷ each other column is shown."),
        Key("scalability", FLAG, "Whether the speed-up ÷ the ratio of clients is shown."),
        Key("fields",
            help="The fields of the observation that are shown, instead of factors.",
            below=_FIELD, is_list=True),
        Key("along", TEXT, "What the titles of the fields count, if they are numbers: a chart has "
            "the fields along them."),
        Key("note", TEXT, "A sentence below the table: what its numbers include, and what they do "
            "not."),
    )
)  # fmt: skip
_SHEET = Keys(
    (
        Key("title", TEXT, "The heading in the file; the table is the first one below it.",
            is_required=True),
        Key("file", TEXT, "A Markdown file in the folder.", is_required=True),
    )
)  # fmt: skip
_DERIVED = Keys(
    (
        *of_fields(DerivedMetric),
        Key("test", TEXT, "The test whose runs have it; without one it is derived from the metrics "
            "above it, of several tests."),
        Key("scripts", TEXTS, "The scripts whose transactions it reads; otherwise all of the "
            "test. Where one of these did not end ok, there is no value."),
        Key("value", SCALAR, "The formula: " + ", ".join(f":{name}" for name in INPUTS)
            + ", parameters and constants.", is_required=True),
        Key("better", OneOf(BETTER), "Which value is better; otherwise the greater one."),
    )
)  # fmt: skip
WORKLOAD = Keys(
    (
        Key("extends", TEXT, "The workload whose tables, rows, parameters, constants, scripts, "
            "checks and overrides this one has too: its name, or its folder, relative to this "
            "one."),
        Key("dialects", TEXTS,
            "Files of dialects for which the folder has overrides, relative to it."),
        Key("instances", help='Script with {instance} in its name → the numbers it stands for, '
            '"1..14", or words.', below=_named(TEXTS)),
        Key("same_text", help="Language → scripts and checks whose SQL is of that language too.",
            below=_named(TEXTS)),
        Key("parameters", help="[parameters.NAME]: what a user can set with --set NAME=VALUE.",
            below=_tables(_PARAMETER)),
        Key("tests", help="[tests.NAME]: what clients do and what is measured.",
            below=_tables(_TEST)),
        Key("data", help="Where the rows come from.", below=_DATA),
        Key("tables", help="[[tables]]: a table, in neutral types.", below=_TABLE, is_list=True),
        Key("identifiers", help="Name in scripts (:{name}) → the tables that it chooses among.",
            below=_named(TEXTS)),
        Key("constants",
            help="Name → an expression of parameters and of the constants above it.",
            below=_named(SCALAR)),
        Key("views", help="Queries that scripts and checks read like tables, in the order in which "
            "they are made.", below=_VIEW, is_list=True),
        Key("series", help="[series.NAME]: one table of several tests; `assay run WORKLOAD.NAME` "
            "runs all of them.", below=_tables(_SERIES)),
        Key("sheets", help="[[sheets]]: a table that reports show as it stands, such as how far a "
            "test is from its standard.", below=_SHEET, is_list=True),
        Key("derived", help="[derived.NAME]: a metric that is derived from what was measured, by "
            "a formula.", below=_tables(_DERIVED)),
        Key("title", TEXT, _TITLE, is_required=True),
        Key("source", TEXT, "Where the experiment comes from: a paper, a standard, a page.",
            is_required=True),
        Key("description", TEXT, "What the workload is, in a few sentences."),
        Key("default_test", TEXT, "The test of `assay run NAME`.", is_required=True),
        Key("known_as", help="Name by which other tools know the workload, or a test of it → the "
            "test; empty: the workload. Who types it is shown its name here.",
            below=_named(TEXT)),
        Key("default_system", OneOfNames(registry.systems),
            "The system of `assay run NAME` without --on."),
        Key("not_expressible",
            help="Dialect or language → script, check or reason: what it cannot express.",
            below=_tables(_named(TEXT))),
        Key("report", help="[report.TEST]: the table that reports show for the test.",
            below=_tables(_REPORT)),
    )
)  # fmt: skip
"""Of ``workload.toml``, in the order in which they are read."""
