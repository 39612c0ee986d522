"""The row source ``bib``: files in BibTeX, each entry a row; as they are, or many times with
changes."""

from __future__ import annotations

import random
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect, Table
from assay.contracts.experiment import Experiment
from assay.contracts.factors import Scalar
from assay.contracts.observation import UpdateReport
from assay.contracts.observation.step_reports import UpdatedTable
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError
from assay.load.bibsql import beebe, bibliography
from assay.load.bibsql.bibliography import (
    BibDocument,
    Bibliography,
    DeclaredInput,
    FileRows,
    files_of,
    resolve,
)
from assay.load.bibsql.updates import LoadedTables, Replaced, newer_than, now_ns, set_stamp
from assay.load.load import load, table_files_bytes
from assay.load.row_sources.protocol import (
    Asked,
    DataRequest,
    Download,
    ProgressReceiver,
    RowSource,
    RowsSize,
)
from assay.load.tables import table_digests
from assay.provision.engine.engine_calls import session
from assay.text.phrases import phrase
from assay.text.toml_file import TomlTable
from assay.workload.schema import Schema
from assay.workload.values import Workload

# Takes a loaded deployment and files of its own; changes some and updates the rows, once or more
# often; compares with a fresh load.
#
# Experiment B5 (Beebe 2011, section 4): the time an update takes, and the proof that after it the
# tables hold what a fresh load of the same files would. After many updates: how the files have
# grown, since the paper's sizes are of databases that were updated for months.

RequestOf = Callable[[Sequence[Path]], DataRequest]
"""Makes the data request of some files."""

_ENTRY = re.compile(r"^@(?!string|preamble|comment)\w+\{.*?^\}\n", re.IGNORECASE | re.M | re.S)


class UpdateTask(Struct, frozen=True):
    """What is changed: how many files are edited by each update, how many are removed before the
    first one, chosen by which seed."""

    changed: int
    removed: int
    seed: int
    updates: int = 1


class Edited(Struct, frozen=True):
    """A collection of files after its edits."""

    left: list[Path]
    changed: list[str]
    """Names of the files that are newer than the stamp."""
    removed: list[str]


def observe(
    loaded: LoadedTables, system: System, edits: Iterable[Edited], request_of: RequestOf
) -> UpdateReport:
    """Updates the tables after each of the edits, then loads them afresh and compares.

    They must hold the rows of the files before the edits; they are left holding those after.
    """
    size_bytes = table_files_bytes(system)
    loaded_bytes = None if size_bytes is None else size_bytes(loaded.deployment)
    before_rows = loaded.count()
    changed_files = vanished_files = 0
    every: list[Replaced] = []
    for edited in edits:
        request = request_of(edited.left)
        assert isinstance(request.source, BibDocument), "a bibliography is read by the engine"
        every.append(loaded.replace(request.source, edited.changed, edited.removed))
        changed_files += len(edited.changed)
        vanished_files += len(edited.removed)
    inserted_rows = sum(one.inserted_rows for one in every)
    after_rows = loaded.count()
    updated_bytes = None if size_bytes is None else size_bytes(loaded.deployment)
    updated = table_digests(loaded.deployment, loaded.dialect, loaded.tables)
    load(loaded.deployment, system, loaded.tables, request)
    fresh = table_digests(loaded.deployment, loaded.dialect, loaded.tables)
    return UpdateReport(
        updates=len(every),
        changed_files=changed_files,
        vanished_files=vanished_files,
        deleted_rows=before_rows + inserted_rows - after_rows,
        inserted_rows=inserted_rows,
        elapsed_ns=round(statistics.median(one.elapsed_ns for one in every)),
        loaded_bytes=loaded_bytes,
        updated_bytes=updated_bytes,
        growth_ratio=updated_bytes / loaded_bytes if updated_bytes and loaded_bytes else None,
        equals_fresh_load=updated == fresh,
        tables={
            name: UpdatedTable(rows, digest, fresh_rows=fresh[name][0])
            for name, (rows, digest) in updated.items()
        },
    )


def edits(files: Sequence[Path], folder: Path, task: UpdateTask) -> Iterator[Edited]:
    """Edits copies of ``files`` in ``folder``, anew for each update, when it is asked for."""
    copies = [Path(shutil.copy2(file, folder)) for file in files]
    for update in range(task.updates):
        removed = 0 if update else task.removed
        edited = _edit(copies, folder, replace(task, removed=removed, seed=task.seed + update))
        yield edited
        copies = edited.left


def _edit(copies: Sequence[Path], folder: Path, task: UpdateTask) -> Edited:
    """Edits some of the files, and finds the changed ones by a stamp."""
    if task.changed + task.removed > len(copies):
        raise ArgumentError(
            f"{task.changed} changed and {task.removed} removed files asked, "
            f"the data set has {len(copies)}",
            hint=phrase("{--set changed=N} with a smaller N"),
        )
    stamp = folder / "last-update"
    set_stamp(stamp, _after(copies, stamp))
    rng = random.Random(task.seed)
    chosen = rng.sample(copies, task.changed + task.removed)
    for number, file in enumerate(chosen[: task.changed]):
        _edit_file(file, rng, f"{task.seed}.{number}", number)
    removed = chosen[task.changed :]
    for file in removed:
        file.unlink()
    left = [file for file in copies if file not in removed]
    changed = newer_than(str(stamp)).changed(left)
    return Edited(left, [file.name for file in changed], [file.name for file in removed])


def _after(files: Sequence[Path], stamp: Path) -> int:
    """An instant after the files came into being: the clock of a file system goes in steps."""
    while (now := now_ns(stamp)) <= max(file.stat().st_ctime_ns for file in files):
        time.sleep(0.001)
    return now


def _edit_file(file: Path, rng: random.Random, label: str, number: int) -> None:
    """What an editor's day does to a file: an entry goes, an entry changes, an entry is new."""
    text = file.read_text(encoding="utf-8")
    entries = list(_ENTRY.finditer(text))
    if len(entries) > 2:
        deleted, changed = sorted(rng.sample(entries, 2), key=lambda entry: entry.start())
        fields = changed.group().rstrip()[:-1].rstrip()
        comma = "" if fields.endswith(",") else ","  # after the last field it may be left out
        revised = f'{fields}{comma}\n  annote =       "Revised.",\n}}\n'
        text = (
            text[: deleted.start()]
            + text[deleted.end() : changed.start()]
            + revised
            + text[changed.end() :]
        )
    text += (
        f"\n@Misc{{Assay:2026:U{label},\n"
        f'  title =        "An Entry that an Update Brings",\n'
        f'  year =         "2026",\n'
        f'  bibdate =      "Thu Jan 1 12:00:{number % 60:02d} 2026",\n}}\n'
    )
    file.write_text(text, encoding="utf-8")


_BEEBE = Download(
    "beebe",
    """13 public-domain bibliographies on TeX and typesetting (9 MB).

They are copied from a TeX tree on this machine, or else extracted from the
Debian package that holds them, which is downloaded but not installed. Files
that already exist are kept. The last line of standard output is the folder.""",
    lambda to, on_progress, force: beebe.get(to, on_progress=on_progress, force=force),
    beebe.remove,
)


class BibSource(RowSource):
    name = "bib"
    reads_input = True
    reads_parameters = ("replicas", "variant", "data_seed", "changed", "vanished", "updates")
    downloads = (_BEEBE,)

    def declared(self, data: TomlTable, schema: Schema) -> DeclaredInput:
        return bibliography.read_declared_input(data, schema)

    def check_input(self, paths: Sequence[str]) -> None:
        files_of(paths)

    def input_files(self, paths: Sequence[str]) -> Sequence[Path]:
        return files_of(paths)

    def rows_size(
        self,
        workload: Workload,
        paths: Sequence[str],
        parameters: Mapping[str, Scalar],
        language: str,
    ) -> RowsSize | None:
        """A row holds the whole entry, beside its fields; how many entries there are is only known
        from reading them."""
        del language
        if paths:
            read_bytes = sum(file.stat().st_size for file in files_of(paths))
        elif workload.data.default_input == "beebe":
            read_bytes = sum(size for size, _ in beebe.manifest().files.values())
        else:
            return None
        return RowsSize(0, read_bytes * int(parameters.get("replicas", 1)))

    def refuse_update(self, workload: Workload) -> str | None:
        data: DeclaredInput = workload.data
        return None if data.update else "no [data.update] says how rows follow files"

    def open(
        self, workload: Workload, experiment: Experiment, listener: ProgressReceiver
    ) -> BibliographyRows:
        return BibliographyRows(workload, resolve(experiment, workload, listener))


@dataclass
class BibliographyRows:
    """The rows of one experiment."""

    workload: Workload
    bibliography: Bibliography
    _reported: Entries | None = field(default=None, init=False)
    """Entries that a check reports, once they were needed."""

    @property
    def input_fingerprint(self) -> str:
        read = self.bibliography
        return f"{read.scan['fingerprint']} {read.encoding} {'skip' if read.keep_going else 'stop'}"

    def request(self, asked: Asked) -> DataRequest:
        parameters = asked.parameters
        if parameters.get("variant") == "clean" and int(parameters.get("replicas", 1)) > 1:
            self._find_reported(asked)
        return self._request(self.bibliography, parameters)

    def update(
        self,
        deployment: Deployment,
        system: System,
        tables: Sequence[Table],
        parameters: Mapping[str, Scalar],
        seed: int,
    ) -> UpdateReport:
        rule = self.workload.data.update
        assert rule is not None, "refuse_update has said so"
        loaded = LoadedTables(deployment, system.dialect, tables, rule)
        changed, vanished = (int(parameters[name]) for name in ("changed", "vanished"))
        task = UpdateTask(changed, vanished, seed, int(parameters.get("updates", 1)))

        def request_of(files: Sequence[Path]) -> DataRequest:
            return self._request(self.bibliography.of_files(files), parameters)

        with tempfile.TemporaryDirectory(prefix="assay-update-") as folder:
            edited = edits(self.bibliography.files, Path(folder), task)
            return observe(loaded, system, edited, request_of)

    def _request(self, bibliography: Bibliography, parameters: Mapping[str, Scalar]) -> DataRequest:
        return bibliography.request(
            replicas=int(parameters.get("replicas", 1)),
            variant=str(parameters.get("variant", "full")),
            seed=int(parameters.get("data_seed", 1)),
            reported=self._reported or [],
        )

    def _find_reported(self, asked: Asked) -> None:
        """Loads the plain data and asks the checks which entries they report; once per
        experiment."""
        rule = self.workload.data.update
        if self._reported is None and rule is not None:
            deployment = asked.system.load(self.bibliography.request(replicas=1))
            self._reported = reported_entries(
                deployment, asked.system.dialect, asked.system.statements(), rule
            )


BIB = BibSource()


# Takes a loaded deployment and the statements of its checks; returns the entries that any check
# reports.
#
# The variant ``clean`` of a replicated data set holds further replicas of the other entries only,
# so that the checks' output stays as short as on the data set itself (Beebe 2011, section 4: it
# is "intentionally kept short").

LABEL = "label"

Entries = list[tuple[str, str]]
"""(file name, label) of each."""


def reported_entries(
    deployment: Deployment, dialect: Dialect, statements: Sequence[str], rows: FileRows
) -> Entries:
    """Every entry in the answer of any of the statements.

    An answer without a label reports all entries of its files; one without a file reports the label
    in all files.
    """
    with session(deployment.address) as opened:
        everything = opened.execute(dialect.read_all(rows.table, [rows.key, LABEL])).rows
        files: set[str | None] = set()
        labels: set[str | None] = set()
        entries: set[tuple[str | None, ...]] = set()
        for text in statements:
            answer = opened.execute(text)
            columns = [column.lower() for column in answer.columns]
            if rows.key in columns and LABEL in columns:
                file, label = columns.index(rows.key), columns.index(LABEL)
                entries.update((row[file], row[label]) for row in answer.rows)
            elif rows.key in columns:
                files.update(row[columns.index(rows.key)] for row in answer.rows)
            elif LABEL in columns:
                labels.update(row[columns.index(LABEL)] for row in answer.rows)
    return sorted(
        (str(file), str(label))
        for file, label in everything
        if file in files or label in labels or (file, label) in entries
    )
