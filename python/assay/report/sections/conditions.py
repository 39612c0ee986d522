"""Takes an experiment's record; returns the conditions under which its numbers were measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter, itemgetter
from typing import Any, Literal

from assay.contracts.deployment import Address, Delay, Deployment
from assay.contracts.driving import SETTINGS
from assay.contracts.experiment import UsedProfile, shown_build
from assay.contracts.factors import PROTOCOL
from assay.contracts.recorded import Machine
from assay.contracts.setting import Heading, Pause
from assay.experiment import Driving, quick
from assay.judge import machine_load, service_levels
from assay.load.dataset import Dataset
from assay.record import ExperimentRecord, Run
from assay.record.runs.records import ContinuationRecord
from assay.report import cell_runs, columns, durability
from assay.report.columns import counts, numbers, texts, words
from assay.report.sections import storages
from assay.report.values import ReportCell, ReportTable, Section, absent, rate, share
from assay.text import units
from assay.text.units import size_word

_QUICK = "parameters have the quick values of the workload or of its file"
_CONFINED = "it was run as a capsule: its servers and scripts had no rights on this machine"


def facts(experiment: ExperimentRecord) -> dict[str, str]:
    """What was run, when, on what: the head of a report."""
    machines = machines_of(experiment)
    found = {
        "experiments" if experiment.parts else "experiment": "; ".join(
            map(_experiment, experiment.each)
        ),
        "unfinished": _unfinished(experiment),
        "workload": f"{experiment.workload.name}, version {experiment.workload.fingerprint[:12]}",
        "parameters": parameters(experiment),
        "builds": ", ".join(
            f"{label} {shown_build(build)}"
            for label, build in dict.fromkeys(
                (run.system_label, run.cell.system.build) for run in experiment.runs
            )
            if build
        ),
        "storages": storages.named(experiment),
        "data": "; ".join(dict.fromkeys(_data(run.data) for run in experiment.runs if run.data)),
        "machines" if len(machines) > 1 else "machine": "; ".join(
            f"{named}: {machine(one)}" if named else machine(one) for named, one in machines.items()
        ),
        "assay": "; ".join(
            dict.fromkeys(
                f"{build.get('assay', '')}, engine built as {build.get('profile', 'unknown')}"
                for build in (one.build for one in experiment.each)
            )
        ),
    }
    waiting = {run.position for run in experiment.runs if run.state == "planned"}
    for name, went_on in (
        ("interrupted", [one for one in experiment.continuations if one.is_interruption]),
        ("continued", [one for one in experiment.continuations if not one.is_interruption]),
    ):
        found[name] = "; ".join(_continuation(one, waiting) for one in went_on)
    changes = experiment.experiment.scaled
    if experiment.experiment.is_quick:
        found["version"] = quick.described(changes) or f"quick: {_QUICK}"
    elif any(one.reason for one in changes):
        found["version"] = quick.described(changes)
    if experiment.reproduces:
        found["reproduces"] = experiment.reproduces
    if experiment.experiment.is_confined:
        found["confined"] = _CONFINED
    return {name: value for name, value in found.items() if value}


def left_out(experiment: ExperimentRecord) -> str:
    """``memory 64GB``: what was left out, without the reasons; empty: nothing."""
    names = [f"{one.name} {one.full}" for one in experiment.experiment.scaled if one.reason]
    return ", ".join(dict.fromkeys(names))


def _experiment(experiment: ExperimentRecord) -> str:
    begun = datetime.fromtimestamp(experiment.begun_unix_ns / 1e9, UTC)
    return (
        f"{experiment.id}, begun {begun:%Y-%m-%d %H:%M} UTC, seed {experiment.seed}"
        f"{', under way' if experiment.is_under_way else ''}"
    )


def machines_of(experiment: ExperimentRecord) -> Mapping[str, Machine]:
    """Name → facts; the name is empty where all runs are of one machine."""
    found = {run.machine_name: run.machine for run in experiment.runs}
    return found if len(found) > 1 else {"": experiment.machine}


def machine(recorded: Machine) -> str:
    """``AMD EPYC, 2 processors, 23.5 GiB memory, Debian GNU/Linux 12, kernel 6.1``."""
    return (
        f"{recorded.get('cpu_model') or 'unknown processor'}, "
        f"{_processors(recorded)}{_limit(recorded, 'processors_limit')}, "
        f"{units.binary(recorded.get('memory_bytes') or 0)} memory"
        f"{_limit(recorded, 'memory_limit_bytes')}, "
        f"{recorded.get('operating_system')}, kernel {recorded.get('kernel')}"
    )


def _processors(machine: Machine) -> str:
    number = machine.get("processors_usable")
    return units.counted(number, "processor") if isinstance(number, int) else "unknown processors"


def _limit(machine: Machine, name: Literal["processors_limit", "memory_limit_bytes"]) -> str:
    """`` (limited to 0.2)``, where a control group around Assay did so."""
    limit = machine.get(name)
    if not limit:
        return ""
    return f" (limited to {units.binary(limit) if name.endswith('_bytes') else f'{limit:g}'})"


def parameters(experiment: ExperimentRecord) -> str:
    """``scale 10, retries 1000``: parameters that were asked for with one level, which is in no
    column of a table, and how clients work by default; where tests differ, each with its test."""
    asked = experiment.experiment
    given = (asked.parameters, *(one.get("parameters", {}) for one in asked.of_tests.values()))
    driving = (asked.driving, *(one.get("driving", {}) for one in asked.of_tests.values()))
    names, typed = ({name for one in some for name in one} for some in (given, driving))
    found: dict[str, dict[str, dict[str, None]]] = {}
    for run in experiment.runs:
        own = {name: cell_runs.label(run.parameters[name]).shown for name in run.parameters}
        shown = {name: level for name, level in own.items() if name in names}
        for name, level in run.driving.described().items():
            setting = SETTINGS[name]
            is_of_work = setting.heading is Heading.SESSIONS or isinstance(setting.kind, Pause)
            if is_of_work and name not in typed:
                shown[name] = level
        for name, level in shown.items():
            found.setdefault(name, {}).setdefault(run.full_test_name, {})[level] = None
    said = []
    tests = {run.full_test_name for run in experiment.runs}
    for name, of_tests in found.items():
        single = {test: next(iter(levels)) for test, levels in of_tests.items() if len(levels) == 1}
        if len({*single.values()}) == 1 and len(single) == len(tests):
            said.append(f"{name} {next(iter(single.values()))}")
        else:
            said += [f"{name} {level} ({test})" for test, level in single.items()]
    return ", ".join(said)


def _unfinished(experiment: ExperimentRecord) -> str:
    """How many runs have ended, and what executes the others; empty: all have."""
    if not experiment.is_unfinished:
        return ""
    words = units.ended_runs(experiment.runs_ended, experiment.runs_planned)
    if experiment.is_under_way or not experiment.continued_by:
        return words
    return f"{words}; `{experiment.continued_by}` continues it"


def _continuation(continuation: ContinuationRecord, waiting: Collection[int]) -> str:
    """``process 4711 after 2026-11-22 03:10 UTC in run 7 (loading), which began again; continued
    …``, or where it was no interruption ``2026-11-22 03:10 UTC, after a part of the runs``.
    ``waiting``: positions of runs that have not begun."""
    last, begun = (
        datetime.fromtimestamp(unix_ns / 1e9, UTC)
        for unix_ns in (continuation.last_unix_ns, continuation.begun_unix_ns)
    )
    where = "between two runs"
    if continuation.run_position is not None:
        again = "is to begin again" if continuation.run_position in waiting else "began again"
        where = f"in run {continuation.run_position + 1} ({continuation.run_state}), which {again}"
    elif continuation.run_state:
        where = f"in a run ({continuation.run_state}) that is no longer planned"
    words = (
        f"process {continuation.ended_process_id} after {last:%Y-%m-%d %H:%M} UTC {where}; "
        f"continued {begun:%Y-%m-%d %H:%M} UTC"
        if continuation.is_interruption
        else f"{begun:%Y-%m-%d %H:%M} UTC, after the runs that were asked for had ended"
    )
    changes = continuation.differences
    if continuation.is_asked_otherwise:
        changes.append("the experiment file or the workload was changed")
    return f"{words}, where {', '.join(changes)}" if changes else words


def section(
    experiment: ExperimentRecord, runs: Iterable[Run], not_probed: str = ""
) -> Section | None:
    """Of these runs. ``not_probed``: why no storage was."""
    brought_up = [run for run in runs if run.deployment]
    if not brought_up:
        return None

    tables = (
        _systems_table(brought_up),
        profiles_table(experiment),
        storages.storages_table(brought_up),
        storages.in_force_table(brought_up),
        durability.table(brought_up),
        _driving_table(brought_up),
        headroom_table(brought_up),
    )
    lines = (not_probed,) if not_probed else ()
    return Section("Setup", lines, tuple(table for table in tables if table is not None))


def _systems_table(runs: Iterable[Run]) -> ReportTable:
    titles = (
        "system", "version", "reached by", "connection limit", "control group", "settings asked",
    )  # fmt: skip
    rows = dict.fromkeys(
        (
            run.system_label,
            found.version,
            _reached_by(found),
            "" if found.connection_limit is None else str(found.connection_limit),
            _control_group(found),
            ", ".join(f"{name}={value}" for name, value in found.settings_asked.items()),
        )
        for run in runs
        if (found := run.deployment)
    )
    shown = [
        place
        for place, title in enumerate(titles)
        if title != "control group" or any(row[place] for row in rows)
    ]
    return columns.table(
        "systems",
        "Systems",
        (column for place, column in enumerate(texts(titles)) if place in shown),
        rows,
    )


def _control_group(deployment: Deployment) -> str:
    """The limits in effect of the system's processes."""
    words = []
    if deployment.memory_limit_bytes is not None:
        words.append(f"{size_word(deployment.memory_limit_bytes)} of memory")
    if deployment.cpu_limit is not None:
        words.append(units.counted(deployment.cpu_limit, "processor"))
    return ", ".join(words)


def _driving_table(runs: Sequence[Run]) -> ReportTable | None:
    """How clients were driven; a column for each thing that any run says. None for records of
    before there was a choice."""
    described = [
        (run.test_name, str(run.levels[PROTOCOL.name]), _described(run.driving)) for run in runs
    ]
    names = list(dict.fromkeys(name for _, _, said in described for name in said))
    if not described:
        return None
    rows = dict.fromkeys(
        (test, protocol, *(options.get(name, "") for name in names))
        for test, protocol, options in described
    )
    titles = ("test", "protocol", *(name.replace("_", " ") for name in names))
    return columns.table("driving", "How the clients were driven", texts(titles), rows)


def _described(driving: Driving) -> dict[str, str]:
    return {
        "arrival": driving.arrival,
        **dict(_with_unit(name, level) for name, level in driving.described().items()),
    }


def _with_unit(name: str, level: str) -> tuple[str, str]:
    """``latency_limit_s``, ``1e-09`` as ``latency_limit``, ``1 ns``."""
    if not name.endswith("_s") or name.endswith("_per_s"):
        return name, level
    try:
        return name.removesuffix("_s"), units.short_duration(float(level))
    except ValueError:
        return name, level


def _reached_by(deployment: Deployment) -> str:
    if deployment.is_embedded:
        return "in the client's process"
    places = "; ".join(dict.fromkeys(map(_place, deployment.endpoints)))
    return f"{places}{_delay(deployment.delay)}{_seen(deployment)}"


def _seen(deployment: Deployment) -> str:
    """Which processes of a running server were sampled, or why none."""
    nodes = deployment.nodes
    programs = ", ".join(dict.fromkeys(node.seen_program for node in nodes if node.seen_program))
    reasons = "; ".join(dict.fromkeys(node.why_not_seen for node in nodes if node.why_not_seen))
    if reasons:
        return f"; CPU and memory not seen: {reasons}"
    return f"; CPU and memory are those of {programs}" if programs else ""


def _delay(delay: Delay | None) -> str:
    """What a proxy added, as measured, and what it costs itself."""
    if delay is None:
        return ""
    return (
        f", round trip {units.short_duration(delay.measured_rtt_s)} "
        f"({units.short_duration(delay.rtt_s)} asked; by a proxy that takes "
        f"{units.short_duration(delay.round_trip_cpu_s)} of CPU for each)"
    )


def _place(address: Address) -> str:
    if address.unix is not None:
        return "local socket"
    tls = "" if address.tls == "off" else f", TLS {address.tls}"
    return f"network, {address.host}:{address.port}{tls}"


def _data(data: Dataset) -> str:
    asked = data.request
    replicas = f", {asked.replicas} replicas" if asked.replicas > 1 else ""
    variant = "" if asked.variant == "full" else f", {asked.variant}"
    rows, skipped = sum(data.rows.values()), asked.skipped_items
    counts = [
        # Of generated rows the description has the number, and an item is a row.
        *([units.counted(asked.items, "item")] if asked.items != rows else []),
        *(
            [units.counted(rows, "row")]
            if asked.items != rows or "row" not in asked.description
            else []
        ),
        *([f"{units.counted(skipped, 'item')} skipped"] if skipped else []),
    ]
    described = f"{asked.origin}, {asked.description}{replicas}{variant}"
    return f"{described}: {', '.join(counts)}" if counts else described


def headroom_table(runs: Iterable[Run]) -> ReportTable | None:
    """Each system and number of clients with its fastest run and its ceiling. None where no run has
    a client that could be calibrated."""
    fastest: dict[tuple[str, int], Run] = {}
    for run in runs:
        per_s = service_levels.statements_per_s(run)
        if per_s is not None:
            key = (run.system_on_machine, run.clients)
            known = fastest.get(key)
            if known is None or per_s > _done_per_s(known):
                fastest[key] = run
    if not fastest:
        return None
    is_missing = any(run.calibration is None for run in fastest.values())
    notes = (
        ["the machine has not been calibrated for every driver: assay measure client"]
        if is_missing
        else []
    )
    return columns.table(
        "headroom",
        "Client headroom: statements per second, and the client's calibrated ceiling",
        (
            words("system", attrgetter("system_on_machine"), is_label=True),
            counts("clients", attrgetter("clients"), is_label=True),
            numbers("statements/s", lambda run: rate(_done_per_s(run))),
            numbers("ceiling", _of_room(lambda room: rate(room.ceiling.statements_per_s))),
            numbers("share of it", _of_room(lambda room: share(room.share))),
            numbers("client's share of the CPUs", _of_processors),
        ),
        fastest.values(),
        notes=tuple(notes),
        is_detail=True,
    )


def _done_per_s(run: Run) -> float:
    return service_levels.statements_per_s(run) or 0.0


def _of_room(shown: Callable[[Any], ReportCell]) -> Callable[[Run], ReportCell]:
    def cell(run: Run) -> ReportCell:
        room = service_levels.headroom(run)
        return absent("not calibrated") if room is None else shown(room)

    return cell


def _of_processors(run: Run) -> ReportCell:
    shares = machine_load.client_shares(run)
    return share(None if shares is None else shares[0], "not measured")


def profiles_table(experiment: ExperimentRecord) -> ReportTable | None:
    """None where none was used."""
    used = experiment.experiment.profiles
    if not used:
        return None
    return columns.table(
        "profiles",
        "Profiles of settings",
        (
            words("profile", itemgetter(0), is_label=True),
            words("printed", itemgetter(1), is_label=True),
            words("here", itemgetter(2)),
        ),
        (row for profile in used for row in _profile_rows(profile)),
        notes=("all settings that a system was given stand in the column settings asked",),
    )


def _profile_rows(profile: UsedProfile) -> Iterator[tuple[str, str, str]]:
    name = f"{profile.system} {profile.name}"
    yield name, "", profile.title
    for printed, here in profile.printed.items():
        yield name, printed, here
