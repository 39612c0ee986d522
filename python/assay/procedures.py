"""Takes one planned run; takes it through provision, load, drive and check, in the way its test
asks.

A procedure gives the reason why the run failed, or None; all else it puts on record.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.check.answers import Agreement, Check, check_answers
from assay.check.verdict import why_failed
from assay.dialects.protocol import Dialect
from assay.drive import limit, update
from assay.drive.reported import reported_entries
from assay.drive.sampler import Sampler
from assay.drive.transactions import Observation, drive_document, observe
from assay.errors import ExperimentError
from assay.experiment import Experiment
from assay.input.bibliography import Bibliography
from assay.load.dataset import DataRequest
from assay.plan import PlannedRun
from assay.progress import Progress
from assay.provision.site import Site
from assay.provision.stage import provision
from assay.record import Store
from assay.registry import system
from assay.workbench import Workbench, Workbenches
from assay.workloads import plain
from assay.workloads.values import Script, Workload

Entries = list[tuple[str, str]]

_LOSS_PATIENCE_S = 3.0
"""How long a server whose connections are lost is given to be seen dead."""


@dataclass
class Laboratory:
    """What every run of one experiment has at hand."""

    experiment: Experiment
    workload: Workload
    bibliography: Bibliography
    store: Store
    benches: Workbenches
    progress: Progress
    agreement: Agreement = field(default_factory=Agreement)
    reported: Entries | None = None
    """Entries that a check reports, once somebody needed to know."""


Procedure = Callable[[Laboratory, PlannedRun], str | None]


def of(workload: Workload, planned: PlannedRun) -> Procedure:
    """The procedure that the run's test declares (`assay.workloads.tests.PROCEDURES`)."""
    return {"drive": drive_scripts, "update": bring_up_to_date, "limit": find_limit}[
        workload.test(planned.cell.test).procedure
    ]


def drive_scripts(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Clients run the scripts of the test; every answer is compared with the right one."""
    bench, request = _loaded_bench(lab, planned)
    scripts = _scripts(lab, planned, bench.system.dialect)
    known = lab.workload.expected_counts(request.fingerprint, request.replicas, request.variant)
    expected = {script.name: known.get(script.name) for script in scripts}
    document = _document(lab, planned, scripts, expected)
    lab.store.driving(document)
    lab.progress.stage(f"drive {planned.cell.test}")
    with Sampler(bench.site, bench.system) as sampler:
        observation = observe(bench.site, document, lab.progress.driving)
    lab.store.observed(observation)
    lab.store.sampled(sampler.samples)
    checks = check_answers(
        observation,
        expected,
        {script.name: script.title for script in scripts},
        lab.agreement,
        request.key,
        bench.site.label,
    )
    return _conclusion(lab, planned, observation, checks, bench.site)


def bring_up_to_date(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Some files change, and the rows follow them; then they are compared with a fresh load."""
    rows_follow = lab.workload.update
    if rows_follow is None:
        raise ExperimentError(
            f"the test {planned.cell.test} needs [data.update], which says how rows follow files",
            file=lab.workload.folder / "workload.toml",
        )
    bench, _ = _loaded_bench(lab, planned)
    parameters = planned.cell.parameters
    task = update.UpdateTask(int(parameters["changed"]), int(parameters["vanished"]), planned.seed)
    lab.progress.stage("update")
    bench.forget()  # from here on it holds something else than what was loaded
    with tempfile.TemporaryDirectory(prefix="assay-update-") as folder:
        observation = update.observe(
            bench.site,
            bench.system,
            lab.workload.tables,
            rows_follow,
            lab.bibliography.files,
            Path(folder),
            task,
            lambda files: _request(lab, planned, files),
        )
    lab.store.observed(observation)
    return _conclusion(lab, planned, observation, [], bench.site)


def find_limit(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Sessions are opened until one is refused, with the default limit and with it raised."""
    cell = planned.cell

    @contextmanager
    def open_site(connections: int | None) -> Iterator[Site]:
        with provision(cell.system, cell.storage, connections=connections) as site:
            if connections is None:
                lab.store.provisioned(site)
            yield site

    lab.progress.stage(f"provision {cell.system.label}")
    observation = limit.observe(open_site, cell.clients)
    lab.store.observed(observation)
    return _conclusion(lab, planned, observation, [], None)


def _loaded_bench(lab: Laboratory, planned: PlannedRun) -> tuple[Workbench, DataRequest]:
    """A site that holds the data of this run."""
    lab.progress.stage(f"provision {planned.cell.system.label}")
    bench = lab.benches.bench(planned)
    lab.store.provisioned(bench.site)
    lab.progress.stage("load")
    parameters = planned.cell.parameters
    if parameters.get("variant") == "clean" and int(parameters.get("replicas", 1)) > 1:
        _find_reported(lab, planned, bench)
    request = _request(lab, planned)
    dataset = bench.load(lab.workload.tables, request, lab.progress.loading)
    lab.store.loaded(dataset.for_record())
    return bench, request


def _find_reported(lab: Laboratory, planned: PlannedRun, bench: Workbench) -> None:
    """Loads the plain data and asks the checks which entries they report; once per experiment."""
    if lab.reported is None and lab.workload.update is not None:
        plain = lab.bibliography.request(replicas=1)
        bench.load(lab.workload.tables, plain, lab.progress.loading)
        test = lab.workload.test(planned.cell.test)
        scripts = lab.workload.scripts_for(test, bench.system.dialect.name)
        document = _document(lab, planned, scripts, {})
        lab.reported = reported_entries(bench.site, document, lab.workload.update)


def _request(
    lab: Laboratory, planned: PlannedRun, files: Sequence[Path] | None = None
) -> DataRequest:
    """The data of this run; with ``files``, the same taken from these instead."""
    parameters = planned.cell.parameters
    source = lab.bibliography if files is None else lab.bibliography.of_files(files)
    return source.request(
        replicas=int(parameters.get("replicas", 1)),
        variant=str(parameters.get("variant", "full")),
        seed=int(parameters.get("data_seed", 1)),
        reported=lab.reported or [],
    )


def _scripts(lab: Laboratory, planned: PlannedRun, dialect: Dialect) -> tuple[Script, ...]:
    """What the clients run: the test's scripts, or the statements of the file it is fed with."""
    if planned.cell.feed is not None:
        return plain.read(Path(planned.cell.feed), dialect.literal_style)
    return lab.workload.scripts_for(lab.workload.test(planned.cell.test), dialect.name)


def _document(
    lab: Laboratory,
    planned: PlannedRun,
    scripts: Sequence[Script],
    expected: Mapping[str, int | None],
) -> dict[str, Any]:
    test = lab.workload.test(planned.cell.test)
    return drive_document(
        None,
        scripts,
        {
            **dict.fromkeys(lab.workload.scripts),
            **planned.cell.parameters,
            **{name: count for name, count in expected.items() if name in lab.workload.scripts},
        },
        planned,
        test.stop.resolved(planned.cell.parameters),
        test.order,
    )


def _conclusion(
    lab: Laboratory,
    planned: PlannedRun,
    observation: Observation,
    checks: list[Check],
    site: Site | None,
) -> str | None:
    """Why the run failed, or None; a site that is broken is not used again."""
    lab.store.checked(checks)
    is_lost = observation.get("ended_by") == "lost"
    died = _why_it_died(planned, site, is_lost) if site is not None else None
    if died is not None or is_lost:
        lab.benches.discard(planned)
    return why_failed(observation, checks, died)


def _why_it_died(planned: PlannedRun, site: Site, is_lost: bool) -> str | None:
    """What the system says of its own end. Connections are lost before their server has ended, so
    after a loss it is asked again for a while."""
    under_test = system(planned.cell.system.name)
    deadline_s = time.monotonic() + (_LOSS_PATIENCE_S if is_lost else 0)
    while (died := under_test.why_it_died(site)) is None and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return died
