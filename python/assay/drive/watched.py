"""Takes a loaded deployment and a drive document; drives it and monitors the server; ends the run
when the server dies or no longer responds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.driving import DEFERRED
from assay.contracts.engine import ClientsSoFar, DriveDocument, DriveProgress, ThreadUse
from assay.contracts.events import ClientsAtWork, Sink, Warned, ignored
from assay.contracts.observation import (
    DataInMemory,
    DeviceCounts,
    DeviceRequests,
    MachineSecond,
    Observation,
)
from assay.contracts.stop import NEVER, Stop
from assay.contracts.systems.abilities import Counters, MayLeaveParts
from assay.contracts.systems.protocol import System
from assay.drive.observe import Generators, observe
from assay.drive.sampling import (
    Sampler,
    SumOf,
    TimedSample,
    cpus_in_seconds,
    device_cost,
    machine_cost,
    server_cost,
)
from assay.errors import SystemDied, SystemUnderTestError
from assay.provision import page_cache
from assay.provision.engine.engine_calls import calls_python, responds
from assay.provision.engine.silence import (
    Silence,
    ticks_of_children,
    ticks_of_libraries,
    ticks_of_processes,
)
from assay.provision.machine.sampling import sample_machine
from assay.storages.device_counters import Devices
from assay.text.secrets import without_secrets

# Takes the device under the data, the samples of a run and its progress; says what the machine
# did in each second of the measurement.
#
# The numbers are differences of the kernel's counters, read once a second, with the first
# progress that is of the next one: some tenth of a second late. Where progress comes more seldom,
# they are the mean of the seconds between. Those of the clients are what the engine says of its
# own processes in the same progress. The server and other programs are sampled more seldom, as
# that costs more: what is said of them meanwhile is what was sampled last, and at the end what
# the samples before and after each second say.

_SECOND_NS = 1_000_000_000
_LATE_S = 0.5
"""How long what several processes say of clients is waited for: the last of them says it later."""


class _Counts(NamedTuple):
    at_s: float
    machine_ns: int | None
    device: DeviceCounts | None


class MachineSeconds:
    def __init__(
        self,
        devices: Devices | None,
        samples: Sequence[TimedSample],
        unmeasured_s: float,
        *,
        clients_are_here: bool,
        is_embedded: bool = False,
    ) -> None:
        """``samples``: they grow. ``unmeasured_s``: before the measurement begins.
        ``clients_are_here``: no other machine drives clients. ``is_embedded``: the process that is
        sampled is the client."""
        self._devices, self._samples = devices, samples
        self._clients_are_here, self._is_embedded = clients_are_here, is_embedded
        self._clients: ClientsSoFar | None = None
        self._use: ThreadUse | None = None
        """Since it was said before."""
        self._is_said = False
        """In the second that passes."""
        self._unmeasured_s = unmeasured_s
        self._elapsed_s = 0.0
        self._before: _Counts | None = None
        """At the beginning of the second that passes; None: none does yet."""
        self._samples_before = 0
        """How many were taken before the measurement."""
        self._found: list[MachineSecond] = []

    def at(self, report: DriveProgress) -> tuple[MachineSecond, ...]:
        """Those of the seconds that the progress reports."""
        if report.elapsed_s < self._elapsed_s:  # clients have connected, and begin only now
            self._before, self._found = None, []
        self._elapsed_s = report.elapsed_s
        if report.so_far is not None:
            self._say_of_clients(report.so_far)
        if report.draining is None:
            self._read_until(report.elapsed_s - self._unmeasured_s)
        numbers = dict.fromkeys(one.second for one in report.seconds)
        return tuple(self._found[number] for number in numbers if number < len(self._found))

    def of(self, observation: Observation, began_unix_ns: int) -> tuple[MachineSecond, ...]:
        """Of all its whole seconds; to be asked when clients have ended, and all samples are taken.
        ``began_unix_ns``: when sampling began."""
        whole = (observation.elapsed_ns - observation.drained_ns) // _SECOND_NS
        if len(self._found) < whole:
            self._say_of_clients(
                ClientsSoFar(
                    observation.elapsed_ns,
                    observation.threads,
                    observation.client_cost,
                    observation.statements,
                )
            )
        self._read_until(whole)
        sampled = (
            cpus_in_seconds(self._samples, sum_of, began_unix_ns, observation)
            for sum_of in (_of_others, self._of_server)
        )
        return tuple(
            replace(second, other_cpus=others, server_cpus=server)
            for second, others, server in zip(self._found, *sampled, strict=False)
        )

    def _say_of_clients(self, now: ClientsSoFar) -> None:
        self._use, self._clients = now.use_since(self._clients), now
        self._is_said = True

    def _read_until(self, measured_s: float) -> None:
        if measured_s < 0:
            return
        if self._before is None:
            self._before, self._samples_before = self._counted(), len(self._samples)
        elif measured_s >= len(self._found) + (1.0 if self._is_said else 1.0 + _LATE_S):
            self._is_said = False
            before, self._before = self._before, self._counted()
            for second in range(len(self._found), int(measured_s)):
                self._found.append(self._between(before, self._before, second))

    def _counted(self) -> _Counts:
        machine = sample_machine()
        return _Counts(
            time.monotonic(),
            None if machine is None else machine.user_ns + machine.system_ns + machine.steal_ns,
            None if self._devices is None else self._devices.counts(),
        )

    def _between(self, before: _Counts, now: _Counts, second: int) -> MachineSecond:
        took_s = now.at_s - before.at_s

        def cpus(later_ns: int | None, sooner_ns: int | None) -> float | None:
            return _rate(later_ns, sooner_ns, took_s * 1e9)

        use = self._use
        known = MachineSecond(
            second=second,
            client_cpus=round(use.cpus, 3) if use and self._clients_are_here else None,
            machine_cpus=cpus(now.machine_ns, before.machine_ns),
            other_cpus=self._sampled(_of_others),
            client_busy=round(use.busy, 3) if use and not self._is_embedded else None,
            server_cpus=self._sampled(self._of_server),
        )
        one, other = now.device, before.device
        if one is None or other is None or self._devices is None:
            return known
        return replace(
            known,
            device=self._devices.label,
            **{
                name: _rate(getattr(one, name), getattr(other, name), took_s)
                for name in DeviceRequests.__struct_fields__
            },
        )

    def _of_server(self, timed: TimedSample) -> int | None:
        return None if self._is_embedded else timed.sample.cpu_ns

    def _sampled(self, sum_of: SumOf) -> float | None:
        """Processors in use between the last two samples, once both are of the measurement."""
        *_, before, last = [None, None, *self._samples[self._samples_before :]]
        if before is None or last is None:
            return None
        return _rate(sum_of(last), sum_of(before), (last.at_s - before.at_s) * 1e9)


def _of_others(timed: TimedSample) -> int | None:
    return timed.other_programs_ns


def _rate(later: int | None, sooner: int | None, took: float) -> float | None:
    if later is None or sooner is None or later < sooner or took <= 0:
        return None
    return round((later - sooner) / took, 3)


def observe_watched(
    deployment: Deployment,
    system: System,
    document: DriveDocument,
    emit: Sink = ignored,
    session_statements: Iterable[str] = (),
    why_it_died: Callable[[], str | None] = lambda: None,
    stop: Stop = NEVER,
    generators: Generators | None = None,
) -> tuple[Observation, list[TimedSample]]:
    """The observation, and the samples of the server's processes. It ends as ``lost`` when the
    system or its storage has died, as ``why_it_died`` says. Raises `SystemDied` where that was
    before the clients began, and where the server no longer responds and nothing else would end the
    run.

    Where a ``stop`` is requested, clients end, and the observation is ``interrupted``, without
    what would have to be asked of the server now; raises `Stopped` where none has begun."""
    if isinstance(system, MayLeaveParts) and system.leaves_parts(deployment):
        document = replace(document, leaves_parts=True)
    counters = _Counters(deployment, system, document)
    has_duration = document.stop.duration_s is not UNSET
    silence = None if has_duration else silence_of_clients(deployment, emit)
    watch = DeathWatch(why_it_died)

    def on_progress(report: DriveProgress) -> bool:
        counters.on_progress(report)
        if silence is not None:
            silence.progressed(report.done + report.failed)
        report = replace(report, machine=machine.at(report))
        emit(ClientsAtWork(_of_clients(report, document)))
        return watch.is_alive()

    with Sampler(deployment, system) as sampler:
        unmeasured_s = (document.ramp_up_s or 0.0) + document.warm_up_s
        machine = MachineSeconds(
            sampler.devices,
            sampler.samples,
            unmeasured_s,
            clients_are_here=generators is None or generators.are_on_one_machine,
            is_embedded=deployment.is_embedded,
        )
        try:
            with stop.looked_at():
                observation = _without_secrets(
                    observe(deployment, document, on_progress, session_statements, stop, generators)
                )
        except KeyboardInterrupt:  # clients were to end before any of them had begun
            if watch.reason is not None:
                raise SystemDied(watch.reason) from None
            stop.check()
            raise
    whole = observation if watch.reason is None else replace(observation, ended_by="lost")
    cost = server_cost(sampler.samples, sampler.began_unix_ns, observation)
    if cost is not None and deployment.is_embedded:
        whole = replace(whole, embedded_read_bytes=cost.read_bytes)
    elif cost is not None:
        whole = replace(whole, server_cost=cost)
    sampled = (sampler.samples, sampler.began_unix_ns, observation)
    if sampler.devices is not None:
        whole = replace(whole, device_cost=device_cost(*sampled, sampler.devices.label))
    if sampler.log_devices is not None:
        of_log = device_cost(*sampled, sampler.log_devices.label, lambda timed: timed.log_device)
        whole = replace(whole, log_device_cost=of_log)
    whole = replace(
        whole,
        machine_cost=machine_cost(*sampled),
        machine_seconds=machine.of(observation, sampler.began_unix_ns),
        data_in_memory=_data_in_memory(deployment),
    )
    unfinished = observation.unfinished
    if unfinished is not None and not stop.is_asked:
        # A server with unfinished transactions may not open other sessions either.
        unfinished = replace(unfinished, responds=all(map(responds, deployment.endpoints)))
        whole = replace(whole, unfinished=unfinished)
    is_deaf = unfinished is not None and unfinished.is_deaf
    if not (is_deaf or stop.is_asked) and (grown := counters.grown()):
        whole = replace(whole, server_counters=grown)
    return whole, sampler.samples


def _without_secrets(observation: Observation) -> Observation:
    """Messages of servers quote statements, which may give a user a password."""
    if not observation.errors:
        return observation
    from assay.text.secrets import without_file_passwords

    errors = (
        replace(one, message=without_secrets(without_file_passwords(one.message)))
        for one in observation.errors
    )
    return replace(observation, errors=tuple(errors))


def _of_clients(report: DriveProgress, document: DriveDocument) -> DriveProgress:
    """Without the clients that run what others defer, which are no clients of the run."""
    groups = document.groups or ()
    deferred = sum(
        group.clients or 0 for group in groups if group.arrival and group.arrival.kind == DEFERRED
    )
    return replace(report, clients_running=max(0, report.clients_running - deferred))


def _data_in_memory(deployment: Deployment) -> DataInMemory | None:
    """None where a data directory is not on this machine or may not be read, and of a user's file
    that a library in this process has open: closing such a file ends the library's locks."""
    if deployment.is_embedded and not deployment.is_private:
        return None
    folders = [node.directory for node in deployment.nodes]
    seen = [None if folder is None else page_cache.look_at_cache(folder) for folder in folders]
    found = [one for one in seen if one is not None]
    if not found or len(found) < len(seen):
        return None
    return DataInMemory(
        sum(one.file_bytes for one in found), sum(one.cached_bytes for one in found)
    )


class _Counters:
    """The server's own counters at the beginning and at the end of the measurement. After a warm-up
    they are read while clients work, by a session of a few milliseconds."""

    def __init__(self, deployment: Deployment, system: System, document: DriveDocument) -> None:
        self._deployment = deployment
        self._system = system
        self._before_s = (document.ramp_up_s or 0.0) + document.warm_up_s
        self._before: Mapping[str, int] = {}
        self._reader: threading.Thread | None = None
        self._failure: Exception | None = None
        if not self._before_s:
            self._before = self._read()

    def on_progress(self, report: DriveProgress) -> None:
        if self._before_s and self._reader is None and report.elapsed_s >= self._before_s:
            self._reader = threading.Thread(target=self._begin, name="counters", daemon=True)
            self._reader.start()

    def grown(self) -> dict[str, int]:
        """The increase of each counter; empty where the server has no counters or was lost. Raises
        what a plugin raised when they were read, also in the other thread."""
        if self._reader is not None:
            self._reader.join()
        if self._failure is not None:
            raise self._failure
        after = self._read() if self._before else {}
        return {name: after[name] - count for name, count in self._before.items() if name in after}

    def _begin(self) -> None:
        try:
            self._before = self._read()
        except Exception as error:
            self._failure = error

    def _read(self) -> Mapping[str, int]:
        if not isinstance(self._system, Counters):
            return {}
        try:
            return self._system.counters(self._deployment)
        except SystemUnderTestError:
            return {}


def silence_of_clients(deployment: Deployment, emit: Sink) -> Silence:
    """Of clients that the engine runs."""
    are_children = calls_python(deployment.address.driver)
    of_library = ticks_of_children if are_children else ticks_of_libraries
    return _silence(deployment, emit, of_library, "no transaction has ended")


def silence_of_programs(deployment: Deployment, emit: Sink) -> Silence:
    """Of client programs."""
    nothing = "the client programs have written nothing"
    return _silence(deployment, emit, ticks_of_children, nothing)


def _silence(
    deployment: Deployment, emit: Sink, of_library: Callable[[], int], no_progress: str
) -> Silence:
    processes = [node.pid or node.seen_pid for node in deployment.nodes]

    def warn(sentence: str) -> None:
        emit(Warned(sentence))

    if deployment.is_embedded:
        return Silence(deployment.label, None, of_library, no_progress, warn)
    return Silence(
        deployment.label,
        lambda: responds(deployment.address),
        lambda: ticks_of_processes(processes),
        no_progress,
        warn,
    )


ASK_EVERY_S = 0.5


class DeathWatch:
    def __init__(self, why_it_died: Callable[[], str | None]) -> None:
        self._why_it_died = why_it_died
        self._asked_s = time.monotonic()
        self.reason: str | None = None
        """Why it died; None as far as it lives."""

    def is_alive(self) -> bool:
        """Asks now and then."""
        now_s = time.monotonic()
        if now_s - self._asked_s >= ASK_EVERY_S:
            self._asked_s = now_s
            self.reason = self._why_it_died()
        return self.reason is None
