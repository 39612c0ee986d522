"""Declares the tables of workload files, whose keys the values that they declare have at their
fields, and those of tables that no value has."""

from __future__ import annotations

from assay import registry
from assay.contracts.dialects import View
from assay.text.keys import (  # fmt: skip
    FLAG,
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Listed,
    OneOfNames,
    named,
    of_fields,
)
from assay.workload.declared_reports import Declaration, Series
from assay.workload.declared_results import Sheet
from assay.workload.derived_metrics import DerivedMetric
from assay.workload.parameters import Parameter
from assay.workload.relations import IndexWhen
from assay.workload.values import Test, Workload

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
            "The data set of `assay install` that is read where no --input is given."),
        Key("update",
            help="How changed input files are applied to loaded rows, in the step `update`.",
            below=_UPDATE),
    ),
    is_open=True,
)  # fmt: skip
_TABLE = Keys(
    (
        Key("name", TEXT, "Its name; {instance} in it makes one table for each number.",
            is_required=True),
        Key("columns",
            help="Column → type, and any of `not null`, `wide` and `default LITERAL`.",
            below=named(TEXT)),
        Key("primary_key", TEXTS, "Columns of the primary key."),
        Key("indexes", Listed(TEXT, may_be_empty=True),
            'Indexes: "column, other desc", or { columns, when }.', below=IndexWhen, is_list=True),
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
        Key("values", help="Column → the expression of its value.", below=named(SCALAR)),
        Key("languages", TEXTS,
            "Only systems with statements in one of these languages have the table."),
        Key("when", SCALAR,
            "An expression of parameters: systems have the table where it is true."),
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
            '"1..14", or words.', below=named(TEXTS)),
        Key("same_text", help="Language → scripts and checks whose SQL is of that language too.",
            below=named(TEXTS)),
        Key("parameters", help="[parameters.NAME]: what a user can set with --set NAME=VALUE.",
            below=named(Parameter)),
        Key("tests", help="[tests.NAME]: what clients do and what is measured.",
            below=named(Test)),
        Key("data", help="Where the rows come from.", below=_DATA),
        Key("tables", help="[[tables]]: a table, in neutral types.", below=_TABLE, is_list=True),
        Key("identifiers", help="Name in scripts (:{name}) → the tables that it chooses among.",
            below=named(TEXTS)),
        Key("constants",
            help="Name → an expression of parameters and of the constants above it.",
            below=named(SCALAR)),
        Key("views", help="Queries that scripts and checks read like tables, in the order in which "
            "they are made.", below=View, is_list=True),
        Key("series", help="[series.NAME]: one table of several tests; `assay run WORKLOAD.NAME` "
            "runs all of them.", below=named(Series)),
        Key("sheets", help="[[sheets]]: a table that reports show as it stands, such as how far a "
            "test is from its standard.", below=Sheet, is_list=True),
        Key("derived", help="[derived.NAME]: a metric that is derived from what was measured, by "
            "a formula.", below=named(DerivedMetric)),
        *of_fields(Workload),
        Key("default_test", TEXT, "The test of `assay run NAME`.", is_required=True),
        Key("known_as", help="Name by which other tools know the workload, or a test of it → the "
            "test; empty: the workload. Who types it is shown its name here.",
            below=named(TEXT)),
        Key("default_system", OneOfNames(registry.systems),
            "The system of `assay run NAME` without --on."),
        Key("not_expressible",
            help="Dialect or language → script, check or reason: what it cannot express.",
            below=named(named(TEXT))),
        Key("report", help="[report.TEST]: the table that reports show for the test.",
            below=named(Declaration)),
    )
)  # fmt: skip
"""Of ``workload.toml``, in the order in which they are read."""
