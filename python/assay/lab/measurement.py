"""What steps share that measure: the state of the caches, a system's own client
programs, load generators, the parts of a measurement, and its early end."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs
from msgspec.structs import replace

from assay import env_vars, registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Table
from assay.contracts.engine import DriveDocument
from assay.contracts.events import ClientsAtWork, Event, Sink, ignored
from assay.contracts.factors import CACHE, CLIENT_PROGRAM, GENERATORS, PROTOCOL, THREADS
from assay.contracts.observation import CacheState, NativeClientsReport, Observation
from assay.contracts.observation.successive import begins_ns, successive
from assay.contracts.stop import StopReason
from assay.contracts.storages.abilities import AccountedSecond
from assay.contracts.systems.abilities import NativeClient, capabilities_of
from assay.drive.document import document_of, scripts_of
from assay.drive.generators import Terms
from assay.drive.observe import Generators, clients_of_groups, why_whole
from assay.drive.prepare import Compiled, may_change_data, statements_of
from assay.drive.sampling import Sampler, TimedSample
from assay.errors import ArgumentError, Bug, SystemMissing
from assay.experiment import AS_IS, COLD, COLD_CACHES, COLD_MACHINE, NATIVE, WARM, SystemChoice
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.plan.drives import PlannedDrive, drives, parameters_of
from assay.plan.values import Cell
from assay.provision import confinement, limits, page_cache
from assay.provision.engine.engine_calls import calls_python, session
from assay.provision.machine.ports import is_loopback
from assay.provision.undo.ledger import state_directory
from assay.record.runs.records import gives_the_numbers
from assay.text import units
from assay.text.phrases import Mention, phrase
from assay.workload.steps import Step
from assay.workload.values import Script, Test, Workload

if TYPE_CHECKING:
    from assay.drive.native_clients import ClientsReport


def why_no_native_clients(workload: Workload, run: PlannedRun) -> str | None:
    """Why the clients of the run cannot be native, where they are to be; None: they can."""
    cell = run.cell
    choice, test = cell.system, workload.test(cell.test)
    if cell.level(CLIENT_PROGRAM) != NATIVE:
        return None
    if confinement.is_begun():
        return (
            "a capsule's scripts are not given to a system's own client program, which has "
            "commands of its own for programs and files; --trust allows it"
        )
    if not test.allows_native_client:
        name = workload.full_name(test.name)
        own = "a system's own client program"
        if workload.is_ad_hoc:
            return f"{own} runs tests of workloads that allow it, and no scripts of your own"
        return f"{name} cannot be run by {own}: its workload does not allow it"
    if cell.scripts or cell.feed:
        return "a system's own client program runs the scripts of the test, and no others"
    if not isinstance(registry.system(choice.name), NativeClient):
        return f"{choice.label} has no client program that Assay could start for each client"
    if choice.url is not None:
        return f"{choice.label} is not started by Assay: its own client is not started for it"
    if limits.is_client_memory_limited(choice):
        return f"{choice.label}: its memory is limited in Assay's process, not in client programs"
    if others := _not_followed(run):
        return f"a system's own client program cannot be driven with {', '.join(others)}"
    return None


def _not_followed(run: PlannedRun) -> list[str]:
    """What is asked of the clients beyond running a file."""
    cell = run.cell
    asked = cell.driving.described()
    asked.pop("passes", None)
    if cell.level(PROTOCOL) != "simple":
        asked["protocol"] = cell.level(PROTOCOL)
    if cell.level(THREADS):
        asked["threads"] = str(cell.level(THREADS))
    return [f"{name} = {level}" for name, level in asked.items()]


def run_native_clients(
    state: RunState,
    step: Step,
    planned: PlannedDrive,
    scripts: Sequence[Script],
    expected: Mapping[str, int | None],
    session_statements: Sequence[str],
) -> None:
    """Keeps their report, under the label of the step. Raises `SystemDied` where the server ends
    meanwhile, or hangs."""
    cell, system = planned.run.cell, state.up().system
    passes = cell.driving.passes
    if not isinstance(system, NativeClient) or not isinstance(passes, int):
        raise Bug(f"{cell.system.label} cannot have native clients")
    counts = list(expected.values())
    rows = None if None in counts or not counts else passes * sum(one or 0 for one in counts)
    sent = statements_of(state.workload, planned, system.dialect)
    from assay.workload.scripts import as_file

    text = "\n".join([as_file(scripts, sent)] * passes)

    from assay.drive import native_clients

    def run(look: Callable[[int], object] = lambda _ns: None) -> ClientsReport:
        pooled = state.up()
        if pooled.directory is None:
            raise Bug(f"{pooled.deployment.label} has no directory")
        address = pooled.deployment.address
        first = (*address.session_statements, *session_statements)
        return native_clients.observe(
            system.native_client_command(replace(address, session_statements=first)),
            pooled.directory,
            pooled.deployment,
            text,
            cell.clients,
            pooled.why_it_died,
            state.context.events.emit,
            state.context.stop,
            look,
        )

    if may_change_data(state.context.compiled, state.planned):
        state.up().forget()
    cached = prepare_caches(state, run)
    programs = units.counted(cell.clients, "client program")
    state.context.events.stage(f"drive {cell.test_name} in {programs}")
    deployment = state.up().deployment
    with Sampler(deployment, system) as sampler:
        found = run(EarlyEnd(state, step).look)
    state.observed(step.label, replace(_report(found, rows), cache_state=cached))
    # A library works in the client programs, not in this process, which the sampler sees.
    state.context.store.sampled(found.samples if deployment.is_embedded else sampler.samples)


def _report(report: ClientsReport, rows: int | None) -> NativeClientsReport:
    clients = report.clients
    failed = [one for one in clients if one.status != 0]
    wrong = [one for one in clients if one.status == 0 and rows is not None and one.rows != rows]
    digests = {one.digest for one in clients if one.status == 0}
    elapsed_ns = [one.elapsed_ns for one in clients]
    sampled = [one.most for one in clients if one.most is not None]
    return NativeClientsReport(
        program=clients[0].program,
        clients=len(clients),
        elapsed_ns=report.elapsed_ns,
        fastest_ns=min(elapsed_ns),
        median_ns=int(statistics.median(elapsed_ns)),
        rows=clients[0].rows,
        expected_rows=rows,
        failed=len(failed),
        wrong=len(wrong),
        outputs=len(digests),
        first_error=failed[0].error if failed else "",
        threads=_most(one.threads for one in sampled),
        virtual_bytes=_most(one.virtual_bytes for one in sampled),
        resident_bytes=_most(one.resident_bytes for one in sampled),
        cpu_ns=sum(one.cpu_ns for one in clients),
        program_version=_program_version(report.program),
    )


def _most(counts: Iterable[int]) -> int | None:
    """None: none of them was sampled."""
    return max(counts, default=None)


def _program_version(program: Path) -> str:
    """The first line that it says of it; empty where it says nothing."""
    try:
        from assay.systems.options import said_version

        return next(iter(said_version(program).splitlines()), "")
    except SystemMissing:
        return ""


_INSTEAD = phrase("{--cache as-is}, with a {--warm-up}")


def check_caches(runs: Iterable[PlannedRun]) -> None:
    """Raises `ArgumentError` where this process may not do what a run asks for. Changes nothing."""
    is_asked = any(run.cell.level(CACHE) == COLD_MACHINE for run in runs)
    if is_asked and not page_cache.can_drop_cache_of_machine():
        raise ArgumentError(
            phrase(
                "{}: only root can drop the page cache of the machine",
                Mention("cache", COLD_MACHINE),
            ),
            hint=phrase("{} drops the files of the data, without root", Mention("cache", COLD)),
        )


def why_no_cache_state(compiled: Compiled, run: PlannedRun) -> str | None:
    """Why the run cannot begin with the caches that its cell asks for, as far as that is known
    before anything is started; None: it can."""
    choice, cache = run.cell.system, run.cell.level(CACHE)
    if cache != WARM:
        return None
    had = capabilities_of(registry.system(choice.name), choice)
    if "stored rows" not in had:
        return f"{choice.label} stores no rows, so there is nothing that could be warm or cold"
    is_read_from_here = choice.url is None and not (
        choice.machine.memory_bytes is not None and "own processes" in had
    )
    if is_read_from_here or not may_change_data(compiled, run):
        return None
    return _cannot_be_warmed(choice)


def _cannot_be_warmed(choice: SystemChoice) -> str:
    why = "its files are not on this machine, as far as Assay knows"
    if choice.url is None:
        why = "pages of its files that are read from here would not be in its memory"
    return phrase(
        "{} cannot be warmed: {}, and the test may change the data, so it cannot be run "
        "beforehand; {}",
        choice.label,
        why,
        _INSTEAD,
    )


def prepare_caches(state: RunState, run_once: Callable[[], object]) -> CacheState | None:
    """``run_once``: has the clients do all their work, unmeasured. None: the caches stay as they
    are."""
    cache = state.planned.cell.level(CACHE)
    if cache == AS_IS:
        return None
    if cache == WARM:
        return _warm(state, run_once)
    return _cold(state, cache)


def _cold(state: RunState, cache: str) -> CacheState:
    """Raises `ArgumentError` where Assay did not start the system."""
    state.context.events.stage("empty the caches")
    is_machine = cache == COLD_MACHINE
    restarted = state.up().restart(
        page_cache.drop_cache_of_machine if is_machine else page_cache.drop_cached
    )
    state.context.store.deployment_changed(restarted)
    dropped = "page cache of the machine dropped" if is_machine else "its files dropped"
    return CacheState(
        cache, done=("restarted", dropped), cached_bytes=restarted.page_cache_kept_bytes
    )


def _warm(state: RunState, run_once: Callable[[], object]) -> CacheState:
    """Raises `ArgumentError` where nothing can be done."""
    state.context.events.stage("warm the caches")
    deployment = state.up().deployment
    done: list[str] = []
    folders = [node.directory for node in deployment.nodes if node.directory is not None]
    if deployment.is_embedded and not deployment.is_private and deployment.address.file:
        folders = [Path(deployment.address.file)]  # beside it there are other files of the user
    elif deployment.memory_limit_bytes is not None and not deployment.is_embedded:
        folders = []  # pages that this process reads would be memory beyond the server's limit
    found = [page_cache.read_into_cache(folder) for folder in folders]
    file_bytes = sum(one.file_bytes for one in found)
    cached_bytes = sum(one.cached_bytes for one in found)
    if folders:
        done.append("its files read")
    if not may_change_data(state.context.compiled, state.planned):
        run_once()
        done.append("test run once")
    if not done:
        raise ArgumentError(_cannot_be_warmed(state.planned.cell.system))
    return CacheState(
        WARM,
        done=tuple(done),
        file_bytes=file_bytes if folders else None,
        cached_bytes=cached_bytes if folders else None,
    )


PARTS = "parts"
"""The folder in the state directory where generators keep their measurements if they lose the
coordinator."""
_KEPT_DAYS = 30
OWN_PROCESSES = "own processes"
"""The capability of a system that works in none of the clients' processes."""


def generators_of_cell(cell: Cell, deployment: Deployment, run: int) -> Generators | None:
    """Of one drive of this run; None: this process drives all clients."""
    number = cell.level(GENERATORS)
    if number == 1:
        return None
    terms = Terms(on_lost=cell.driving.on_lost, run=run, kept_in=folder_of_parts())
    if not cell.driving.fleet:
        from assay.provision.engine.engine_programs import LocalFleet

        fleet = LocalFleet(number, deployment.address.options.get("module", ""))
        return Generators(fleet, terms)
    from assay.provision.engine.engine_programs import RayFleet

    cluster = RayFleet(cell.driving.fleet, number)
    if not cluster.is_this_machine and (here := _only_here(deployment)):
        cluster.stop()
        raise ArgumentError(
            phrase(
                "{}: {} is reached at {} on this machine alone, and generators are on others",
                Mention("fleet", cell.driving.fleet),
                cell.system.label,
                here,
            ),
            hint=phrase(
                "transport=tcp and {} with an address of this machine, for a system that asks for "
                "a password; or name a running server by its URL in {--on}",
                env_vars.SERVER_ADDRESS.name,
            ),
        )
    return Generators(cluster, terms, cluster.is_this_machine)


def kept_parts() -> str:
    """What generators of this machine kept in the last day, where they lost the coordinator, as a
    sentence; empty: nothing. Removes what is a month old."""
    folder, now_s = folder_of_parts(), time.time()
    recent = []
    for file in sorted(folder.glob("*.json")):
        with suppress(OSError):
            days = (now_s - file.stat().st_mtime) / 86400
            if days > _KEPT_DAYS:
                file.unlink()
            elif days < 1:
                recent.append(file)
    if not recent:
        return ""
    return (
        f"load generators kept what they measured where Assay was lost in the last day "
        f"({units.counted(len(recent), 'file')}, removed after {_KEPT_DAYS} days): "
        "`assay merge --parts`"
    )


def folder_of_parts() -> Path:
    return state_directory().parent / PARTS


def _only_here(deployment: Deployment) -> str | None:
    """An endpoint that no other machine reaches."""
    for endpoint in deployment.endpoints:
        if endpoint.unix is not None:
            return endpoint.unix
        if endpoint.host is not None and is_loopback(endpoint.host_address or endpoint.host):
            return endpoint.host
    return None


def why_no_generators(workload: Workload, run: PlannedRun) -> str | None:
    """Why its clients cannot be distributed; None: they can, or need not."""
    cell, number = run.cell, run.cell.level(GENERATORS)
    if number == 1:
        return None
    asked = units.counted(number, "generator")
    if cell.level(CLIENT_PROGRAM) == NATIVE:
        return f"{asked} cannot drive a system's own client programs, which are started here"
    from assay.provision.engine import engine_programs

    if cell.driving.fleet and (reason := engine_programs.why_not(cell.driving.fleet)):
        return reason
    system = registry.system(cell.system.name)
    if not (calls_python(system.driver) or OWN_PROCESSES in capabilities_of(system, cell.system)):
        return (
            f"{cell.system.label} works in the client's own process: {asked} would be as many "
            "systems"
        )
    for planned in drives(workload, run):
        scripts = scripts_of(workload, planned, system.dialect)
        document = document_of(workload, planned, system.dialect, scripts)
        if reason := why_whole(document):
            return f"{asked} cannot be used: {reason}, which must be in one process"
        if (fewest := min(clients_of_groups(document))) < number:
            clients = units.counted(fewest, "client")
            return f"{asked} cannot share {clients}: expected at least one client for each"
    return None


class DrivenDocument(NamedTuple):
    """One of them."""

    observation: Observation
    samples: Sequence[TimedSample]


def documents_of_parts(
    test: Test, planned: PlannedDrive, document: DriveDocument
) -> list[DriveDocument]:
    """The drive document of each part: of each script, where each is to begin with cold caches."""
    cell = planned.run.cell
    is_split = (
        test.cold_each_script
        and cell.level(CACHE) in COLD_CACHES
        # Options may have given it another end, which all scripts have in common.
        and set(cell.driving.stop) == {"passes"}
    )
    if not is_split:
        return [document]
    return [structs.replace(document, scripts=(script,)) for script in document.scripts]


def joined_observation(parts: Sequence[DrivenDocument]) -> Observation:
    return _with_all_caches(parts, successive([part.observation for part in parts]))


def keep_samples(state: RunState, parts: Sequence[DrivenDocument]) -> None:
    """Samples count from the first that was taken, time between the parts included; what the
    storage accounted for, from the beginning of the measurement, without it."""
    store = state.context.store
    began_ns = parts[0].observation.started_unix_ns
    store.sampled(
        replace(sample, at_s=sample.at_s + (part.observation.started_unix_ns - began_ns) / 1e9)
        for part in parts
        for sample in part.samples
    )
    store.accounted(_accounted(state, [part.observation for part in parts]))


def _accounted(state: RunState, parts: Sequence[Observation]) -> list[AccountedSecond]:
    """A second of a part counts for the second of the whole in which it began."""
    from assay.contracts.observation.merging import SECOND_NS

    seconds = [
        replace(one, second=(one.second * SECOND_NS + by_ns) // SECOND_NS)
        for part, by_ns in zip(parts, begins_ns(parts), strict=True)
        for one in state.up().accounted(
            part.started_unix_ns, part.started_unix_ns + part.elapsed_ns
        )
    ]
    of_one_line = attrgetter("second", "operation")
    return [
        _added_second(list(lines))
        for _, lines in groupby(sorted(seconds, key=of_one_line), of_one_line)
    ]


def _added_second(lines: Sequence[AccountedSecond]) -> AccountedSecond:
    def total(name: str) -> int:
        return sum(getattr(line, name) for line in lines)

    return replace(
        lines[0],
        count=total("count"),
        failed=total("failed"),
        bytes=total("bytes"),
        time_ns=total("time_ns"),
        longest_ns=max(line.longest_ns for line in lines),
        late_ns=total("late_ns"),
    )


def _with_all_caches(parts: Sequence[DrivenDocument], observation: Observation) -> Observation:
    """``found`` with what was done to the caches before each part."""
    states = [part.observation.cache_state for part in parts]
    first = states[0]
    if first is None or len(parts) < 2:
        return observation
    kept = [None if state is None else state.cached_bytes for state in states]
    known = [size for size in kept if size is not None]
    cached = CacheState(
        first.cache,
        done=(*first.done, f"before each of {len(parts)} scripts"),
        file_bytes=first.file_bytes,
        cached_bytes=max(known) if len(known) == len(kept) else None,
    )
    return structs.replace(observation, cache_state=cached)


_GOAL_LIMIT = "the limit of the goal"


class EarlyEnd:
    """Of one step."""

    def __init__(self, state: RunState, step: Step) -> None:
        self._stop, self._run = state.context.stop, state.context.store.run_id()
        excess = state.context.excess
        self._excess = excess if gives_the_numbers(state.test.steps, step) else None

    def look(self, elapsed_ns: float) -> None:
        """``elapsed_ns``: how long the clients of the step have been measured."""
        if self._excess is not None and elapsed_ns > self._excess.beyond_ns:
            self._stop.ask(StopReason(_GOAL_LIMIT, run=self._run, exceeded=self._excess.reason))

    def during(self, document: DriveDocument, before_ns: int = 0) -> Sink:
        """A sink that looks while the document is driven. ``before_ns``: what earlier parts of the
        same step took."""
        if self._excess is None:
            return ignored
        unmeasured_s = (document.ramp_up_s or 0.0) + document.warm_up_s
        is_measured = False

        def tell(event: Event) -> None:
            nonlocal is_measured
            if not isinstance(event, ClientsAtWork):
                return
            report = event.report
            # Until a client begins, the time is that of connecting.
            is_measured = is_measured or report.done > 0 or bool(report.seconds)
            if is_measured:
                self.look(before_ns + (report.elapsed_s - unmeasured_s) * 1e9)

        return tell


def execute_on_tables(
    state: RunState, step: Step, statements_for: Callable[[Sequence[Table]], list[str]]
) -> None:
    """Those for all tables of the run. No other run uses the system afterwards: its data are not as
    a load leaves them. Raises `SystemRefused` with the first error."""
    pooled = state.up()
    parameters = parameters_of(state.workload, state.planned, step)
    tables = state.workload.tables_for(parameters, pooled.system.dialect.language)
    state.context.events.stage(step.do)
    pooled.forget()
    state.must_be_discarded = True
    with session(pooled.deployment.address) as opened:
        for statement in statements_for(tables):
            opened.execute(statement)
