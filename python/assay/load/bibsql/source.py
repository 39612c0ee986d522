"""The row source ``bib``: files in BibTeX, each entry a row; as they are, or many times with
changes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Table
from assay.contracts.experiment import Experiment
from assay.contracts.factors import Scalar
from assay.contracts.observation import UpdateReport
from assay.contracts.systems.protocol import System
from assay.load.bibsql import beebe, declared
from assay.load.bibsql.bibliography import Bibliography, files_of, resolve
from assay.load.bibsql.changed_files import LoadedTables
from assay.load.bibsql.declared import DeclaredInput
from assay.load.bibsql.reported import Entries, reported_entries
from assay.load.bibsql.update_experiment import UpdateTask, edits, observe
from assay.load.row_sources.protocol import Asked, Download, ProgressReceiver, RowSource, RowsSize
from assay.load.row_sources.request import DataRequest
from assay.text.files.toml_file import TomlTable
from assay.workload.schema import Schema
from assay.workload.values import Workload

_BEEBE = Download(
    "beebe",
    """13 public-domain bibliographies on TeX and typesetting (9 MB).

They are copied from a TeX tree on this machine, or else extracted from the
Debian package that holds them, which is downloaded but not installed. Files
that already exist are kept. The last line of standard output is the folder.""",
    lambda to, on_progress, force: beebe.get(to, on_progress=on_progress, force=force),
)


class BibSource(RowSource):
    name = "bib"
    reads_input = True
    reads_parameters = ("replicas", "variant", "data_seed", "changed", "vanished", "updates")
    downloads = (_BEEBE,)

    def declared(self, data: TomlTable, schema: Schema) -> DeclaredInput:
        return declared.read(data, schema)

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
