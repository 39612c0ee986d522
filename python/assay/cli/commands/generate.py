"""``assay generate``: writes the generated rows of a table, or a part of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import structs

from assay import registry
from assay.cli.options import completers
from assay.cli.options.shared_options import NumberType, is_typed
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.output import report_output
from assay.cli.output.report_output import STANDARD_OUTPUT
from assay.cli.process import OutputLost
from assay.contracts.dialects import Dialect, SqlText, Table
from assay.contracts.engine import ExportDocument, GeneratedDocument
from assay.errors import ArgumentError
from assay.load.row_sources.protocol import row_source
from assay.text import quantities
from assay.workload.parameters import Scalar
from assay.workload.values import Workload

FORMS = ("csv", "sql")
_ROWS_PER_STATEMENT = 100
"""A part begins at the start of a statement, so that no part depends on another."""


@click.command("generate")
@click.argument("workload", metavar="WORKLOAD", shell_complete=completers.workload)
@click.option("--table", metavar="NAME", help="Table to write. [default: the only one]")
@click.option(
    "--format", "form", type=click.Choice(FORMS), default=FORMS[0], help="Format of the rows."
)
@click.option(
    "--part",
    metavar="K/N",
    default="1/1",
    help="The K-th of N parts; joined in order, they are the whole table, byte for byte.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completers.setting,
    help="A parameter of the workload.",
)
@click.option(
    "--seed",
    type=NumberType(quantities.SEED),
    metavar="N",
    help="Seed of the random values. [default: the parameter data_seed, or 1]",
)
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=completers.dialect,
    help="SQL dialect. [default: that of the workload's system]",
)
@click.option(
    "--header/--no-header", default=True, help="CSV: write the column names (only in part 1)."
)
@click.option(
    "--output", "-o", metavar="FILE", help="File to write; -: standard output. [default: -]"
)
@click.option(
    "--force", cls=DestroyingOption, is_flag=True, help="Replace the --output file if it exists."
)
def command(
    workload: str,
    table: str | None,
    form: str,
    part: str,
    settings: Sequence[str],
    seed: int | None,
    dialect: str | None,
    header: bool,
    output: str | None,
    force: bool,
) -> None:
    """Write the rows of a table that a workload generates, or a part of them.

    Row i depends only on the seed, the table and i, so parts can be generated in
    any order, on any machine and at the same time. In CSV, NULL is an empty field
    and an empty text is "".

    \b
    Example:
      assay generate tpcb --table pgbench_tellers --set scale=2
      assay generate tpcb --table pgbench_accounts --part 3/8 -o accounts.3
    """
    from assay.workload import reader

    if form != "sql" and dialect is not None:
        raise ArgumentError(
            f"--dialect does not apply to --format {form}", hint="--format sql, or leave it out"
        )
    if force and output is None:
        raise ArgumentError("--force needs --output", hint="--output FILE")
    if form != "csv" and is_typed("header"):
        raise ArgumentError(
            f"--header does not apply to --format {form}", hint="--format csv, or leave it out"
        )
    read = reader.read(workload)
    if not row_source(read).has_expressions:
        raise ArgumentError(
            f"{read.name} generates no rows: expected a workload with generated data",
            hint=_generating(),
        )
    parameters = _parameters(read, settings)
    tables = {each.name: each for each in read.tables_for(parameters)}
    chosen = tables[_table(table, tables)]
    numbers = _part(part)
    source = structs.replace(read.source_for(parameters, _seed(parameters, seed)), part=numbers)
    is_first = numbers[0] == 1
    if form == "csv":
        target = ExportDocument(table=chosen.name, form=form, header=header and is_first)
    else:
        target = _sql(read, dialect, chosen, form)
    with _output(
        output, force, [read.folder / "workload.toml", *(read.folder / name for name in read.texts)]
    ) as descriptor:
        _write(source, target, descriptor, output)


def _generating() -> str:
    """A hint with the workloads that generate rows."""
    from assay.workload import reader

    found = [
        one.name
        for one in reader.usable()
        if isinstance(one, Workload) and one.data_source == "generated"
    ]
    return (
        f"expected one of {', '.join(found)}, or the folder of a workload that generates its data"
    )


def _parameters(workload: Workload, settings: Sequence[str]) -> dict[str, Scalar]:
    from assay.experiment.choices.checked_choices import key_and_values, parameter_levels

    found: dict[str, Scalar] = {}
    for word in settings:
        name, words = key_and_values(word)
        values = parameter_levels(workload, name, words)
        if len(values) != 1:
            raise ArgumentError(f"--set {word}: expected one value of {name}")
        found[name] = values[0]
    return workload.with_defaults(found)


def _seed(parameters: Mapping[str, Scalar], seed: int | None) -> int:
    return int(parameters.get("data_seed", 1)) if seed is None else seed


def _table(name: str | None, tables: Mapping[str, Table]) -> str:
    if name is None:
        if len(tables) != 1:
            raise ArgumentError(
                "expected --table: the workload has several tables",
                hint=f"--table with one of: {', '.join(sorted(tables))}",
            )
        return next(iter(tables))
    if name not in tables:
        raise registry.unknown("table", name, tables)
    return name


def _part(word: str) -> tuple[int, int]:
    try:
        numbers = [quantities.PARTS.of_word(number) for number in word.split("/")]
    except ValueError:
        numbers = []
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise ArgumentError(
            f"--part: expected K/N with K from 1 to N, and N from 1 to {quantities.PARTS.most:,}, "
            f"found {quantities.shown(word)}",
            hint="--part 1/4 is the first of four",
        )
    return numbers[0], numbers[1]


def _sql(workload: Workload, name: str | None, table: Table, form: str) -> ExportDocument:
    dialect = _dialect(name or workload.default_system)
    if not isinstance(dialect, SqlText):
        raise ArgumentError(
            f"the dialect {dialect.name} is not SQL", hint="--format csv, or another --dialect"
        )
    return ExportDocument(
        table=table.name,
        form=form,
        insert=dialect.insert(table),
        literal_style=dialect.text_style.literals,
        has_braced_arrays=dialect.has_braced_arrays,
        rows_per_statement=_ROWS_PER_STATEMENT,
    )


def _dialect(name: str) -> Dialect:
    """The dialect of that name, or of the system of that name."""
    systems = [system for _, system in registry.usable_systems()]
    known = {system.dialect.name: system.dialect for system in systems}
    known |= {system.name: system.dialect for system in systems}
    if not name:
        raise ArgumentError(
            "expected --dialect: the workload has no default system",
            hint=f"--dialect with one of: {', '.join(sorted(known))}",
        )
    if name not in known:
        raise registry.unknown("dialect", name, known)
    return known[name]


@contextmanager
def _output(file: str | None, force: bool, inputs: Sequence[Path]) -> Iterator[int]:
    """A file descriptor to write to; no file of ``inputs`` is replaced."""
    if file is None or file == STANDARD_OUTPUT:
        yield sys.stdout.fileno()
        return
    with report_output.file_written(file, force=force, inputs=inputs) as descriptor:
        yield descriptor


def _write(
    source: GeneratedDocument, target: ExportDocument, descriptor: int, file: str | None
) -> None:
    from assay import _engine
    from assay.workload.schema import placed

    try:
        _engine.generate(source.json, target.json, descriptor)
    except _engine.EngineError as error:
        raise placed(error) from error
    except OSError as error:
        if file is None:
            raise OutputLost(error) from error
        raise
