"""The row source ``program``: the program of a Python package writes the rows, a file for each
table with a row on each line.

    [data]
    source = "program"
    package = "rowgen==1.2.0"
    command = ["rowgen", "--size", "{scale}"]
    files = "{table}.txt"
    separator = "|"
    ends_line = true

The package is unpacked once, into the cache folder of installed programs, as `assay install` does
it. The program runs in an empty folder, which is removed after the experiment. ``{scale}`` is the
value of a parameter or of a constant.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from assay.contracts.experiment import Experiment
from assay.errors import ExperimentError, InputError, SystemUnderTestError
from assay.load.row_sources.protocol import (
    Asked,
    Cell,
    DataRequest,
    ProgressReceiver,
    RowSource,
    RowsSize,
)
from assay.provision.install import cache, package_clients
from assay.provision.processes import ending_of_output
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.parameters import Scalar
from assay.workload.schema import Expression, Schema, evaluate
from assay.workload.values import Workload

_TABLE = "{table}"
_NAMED = re.compile(r"\{(\w+)\}")
_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][A-Za-z0-9.+]*)")


class DeclaredProgram(Struct, frozen=True):
    """What ``[data]`` of a workload says."""

    file: Path
    package: str
    """Its name among Python packages."""
    version: str
    command: tuple[str, ...]
    files: str
    """The name of a table's file."""
    separator: str
    """Between the cells of a line."""
    ends_line: bool
    """A separator stands after the last cell too."""
    text_bytes: Expression | None
    """How many bytes the rows have as text, about; None: not said."""

    def words(self, known: Mapping[str, Scalar]) -> list[str]:
        """The command."""
        return [_NAMED.sub(lambda match: _plain(known[match[1]]), word) for word in self.command]


class ProgramSource(RowSource):
    name = "program"
    starts_programs = True

    def declared(self, data: TomlTable, schema: Schema) -> DeclaredProgram:
        package = data.text("package")
        found = _PACKAGE.fullmatch(package)
        if found is None:
            raise data.error(
                f"expected a Python package with its version, found {package!r}",
                "package",
                hint='package = "NAME==VERSION"',
            )
        separator = data.text("separator", "|")
        if len(separator) != 1:
            raise data.error(f"expected one character, found {separator!r}", "separator")
        return DeclaredProgram(
            file=schema.file,
            package=found["name"],
            version=found["version"],
            command=data.texts("command"),
            files=data.text("files"),
            separator=separator,
            ends_line=data.boolean("ends_line", False),
            text_bytes=Expression(data.text("text_bytes"), data.line_of("text_bytes"))
            if "text_bytes" in data
            else None,
        )

    def check(self, workload: Workload, levels: Iterable[Mapping[str, Scalar]]) -> None:
        declared: DeclaredProgram = workload.data
        for given in levels:
            known = workload.schema.with_constants(workload.with_defaults(given))
            for word in declared.command:
                for name in _NAMED.findall(word):
                    if name not in known:
                        raise ExperimentError(
                            f"command of [data]: {{{name}}} is neither a parameter nor a constant",
                            file=declared.file,
                            hint=did_you_mean(name, known),
                        )
            _size(declared, known)

    def rows_size(
        self,
        workload: Workload,
        paths: Sequence[str],
        parameters: Mapping[str, Scalar],
        language: str,
    ) -> RowsSize | None:
        del paths, language
        known = workload.schema.with_constants(workload.with_defaults(parameters))
        size = _size(workload.data, known)
        return None if size is None else RowsSize(0, size)

    def open(
        self, workload: Workload, experiment: Experiment, listener: ProgressReceiver
    ) -> ProgramRows:
        del experiment
        return ProgramRows(workload, workload.data, _program(workload.data, listener))


class ProgramRows(Struct):
    """Made by a program that is here."""

    workload: Workload
    declared: DeclaredProgram
    program: Path
    _written: _Written | None = None
    """By the last run of the program."""

    def request(self, asked: Asked) -> DataRequest:
        declared = self.declared
        parameters = self.workload.with_defaults(asked.parameters)
        words = declared.words(self.workload.schema.with_constants(parameters))
        language = asked.system.dialect.language
        tables = [table.name for table in self.workload.schema.tables_for(parameters, language)]
        decisive = [declared.version, words, declared.separator, declared.ends_line, tables]

        def rows() -> dict[str, Iterable[Sequence[Cell]]]:
            if asked.is_empty:
                return {}
            folder = self._folder(words)
            return {table: self._rows(folder, table) for table in tables}

        return DataRequest(
            source=rows,
            origin="generated",
            description=f"{' '.join(words)} ({declared.package} {declared.version})",
            fingerprint=hashlib.sha256(json.dumps(decisive).encode()).hexdigest(),
            items=0,
            settings={"is_empty": True} if asked.is_empty else None,
        )

    def _folder(self, words: Sequence[str]) -> Path:
        """With the files that the command writes. Raises `InputError` where it fails."""
        if self._written is None or self._written.words != words:
            self._written = None
            folder = tempfile.TemporaryDirectory(prefix="assay-rows-")
            _run([str(self.program), *words[1:]], Path(folder.name))
            self._written = _Written(words, folder)
        return Path(self._written.folder.name)

    def _rows(self, folder: Path, table: str) -> Iterator[Sequence[Cell]]:
        separator = self.declared.separator
        end = f"{separator}\n" if self.declared.ends_line else "\n"
        file = folder / self.declared.files.replace(_TABLE, table)
        try:
            lines = file.open(encoding="utf-8", newline="\n")
        except FileNotFoundError:
            found = ", ".join(sorted(path.name for path in folder.iterdir())) or "no file"
            raise InputError(
                f"{self.declared.command[0]} has not written it; it wrote {found}", file=file.name
            ) from None
        with lines:
            for line in lines:
                yield line.removesuffix(end).split(separator)


class _Written(Struct, frozen=True):
    """What the program wrote for these words; removed with this value."""

    words: Sequence[str]
    folder: tempfile.TemporaryDirectory[str]


def _run(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise InputError(
            f"{ending_of_output(Path(words[0]).name, done.returncode)}: "
            f"{said[-1] if said else 'it said nothing'}",
            file="",
            hint=f"the command is {' '.join(words)}",
        )


def _program(declared: DeclaredProgram, listener: ProgressReceiver) -> Path:
    """Of the package, which is brought where it is not here."""
    name = declared.command[0]
    report = listener.stage
    with cache.locked_installation(declared.package, report):
        there = [
            one for one in cache.installations(declared.package) if one.version == declared.version
        ]
        if not there:
            with cache.new_prefix(declared.package, declared.version) as prefix:
                requirement = f"{declared.package}=={declared.version}"
                package_clients.unpack_wheel(requirement, prefix.folder, prefix, report)
            there = [cache.Installed(declared.package, declared.version, prefix.becomes)]
    program = there[0].folder / "bin" / name
    if not program.is_file():
        raise SystemUnderTestError(
            f"{there[0].folder} has no program {name!r}",
            hint="remove it, so that it is brought again: assay install --remove "
            f"{declared.package}",
        )
    return program


def _plain(value: Scalar) -> str:
    """A number without the zeros that say nothing: ``1`` for 1.0."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _size(declared: DeclaredProgram, known: Mapping[str, Scalar]) -> int | None:
    if declared.text_bytes is None:
        return None
    return int(evaluate(declared.text_bytes, known, declared.file))


PROGRAM = ProgramSource()
